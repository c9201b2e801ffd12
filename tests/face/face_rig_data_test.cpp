#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/face/control_points.h"
#include "derm/io/character_file.h"
#include "derm/mesh/triangle_tree.h"

#include "face/slit_sides.h"
#include "rigged_head.h"
#include "support/unpacked.h"

namespace derm {
namespace {

/// Control points of a scanned head from its 68 landmarks: one, or the middle between two.
std::vector<NamedPosition> namedPositions(const std::filesystem::path& folder,
                                          const Character& head) {
  std::vector<std::uint32_t> landmarks(68);
  std::ifstream file(folder / "landmarks68.txt");
  for (std::string line; std::getline(file, line);) {
    std::size_t number = 0;
    std::uint32_t vertex = 0;
    if (std::istringstream(line) >> number >> vertex) landmarks.at(number) = vertex;
  }
  const std::map<std::string, std::vector<std::size_t>> from = {
      {"2.1", {8}},      {"4.1", {22}}, {"4.2", {21}},     {"4.3", {24}},     {"4.4", {19}},
      {"4.5", {26}},     {"4.6", {17}}, {"3.1", {43, 44}}, {"3.2", {37, 38}}, {"3.3", {46, 47}},
      {"3.4", {40, 41}}, {"3.7", {45}}, {"3.8", {39}},     {"3.11", {42}},    {"3.12", {36}},
      {"9.1", {35}},     {"9.2", {31}}, {"9.3", {30}},     {"8.1", {51}},     {"8.2", {57}},
      {"8.3", {54}},     {"8.4", {48}}, {"8.5", {52, 53}}, {"8.6", {49, 50}}, {"8.7", {55, 56}},
      {"8.8", {58, 59}}};
  std::vector<NamedPosition> out;
  std::map<std::string, Vec3d> at;
  for (const auto& [label, numbers] : from) {
    Vec3d sum = Vec3d::Zero();
    for (const std::size_t n : numbers) sum += head.mesh.positions[landmarks[n]].cast<double>();
    at[label] = sum / double(numbers.size());
  }
  // No landmark is on a cheek: between the eye's outer corner and the mouth's.
  at["5.1"] = 0.4 * at["3.7"] + 0.6 * at["8.3"] + Vec3d(0.003, 0, 0.01);
  at["5.2"] = 0.4 * at["3.12"] + 0.6 * at["8.4"] + Vec3d(-0.003, 0, 0.01);
  for (const auto& [label, position] : at) out.push_back({label, {}, position});
  return out;
}

/// [1] Largest gap between the margins of an eye, seen from the front, over its opening.
double gapOf(const Character& head, const std::vector<Vec3f>& posed, FaceSide side) {
  const FacePoints points = pointsOf(head);
  const detail::HeadSurface surface(head.mesh);
  std::vector<bool> skin(surface.pieces.count, false);
  skin[surface.pieces.of_vertex[surface.nearestVertex(points.at("9.3"))]] = true;
  const detail::SlitContours margins =
      detail::contoursThrough(surface, points, detail::eyePoints(side), skin);
  EXPECT_GT(margins.upper.size(), 5u);
  const auto seen = [&](std::uint32_t v) { return Vec3d(posed[v].x(), posed[v].y(), 0); };
  double largest = 0;
  for (const std::uint32_t v : margins.upper) {
    double nearest = 1;
    for (std::size_t i = 0; i + 1 < margins.lower.size(); ++i) {
      const Vec3d a = seen(margins.lower[i]), b = seen(margins.lower[i + 1]);
      const double t = closestOnSegment(seen(v), a, b);
      nearest = std::min(nearest, (a + t * (b - a) - seen(v)).norm());
    }
    largest = std::max(largest, nearest);
  }
  return largest / measureFaceUnits(points).lid_opening_m;
}

/// Share of the vertices that follow a point of the upper lip most and go down with the jaw by more
/// than half of what the lower lip's middle does.
double draggedShare(const Character& head, const FaceRig& rig, const std::vector<Vec3f>& posed) {
  const std::set<std::string_view> upper = {"8.1", "8.5", "8.6"};
  const Vec3f lower = positionAt(*head.findPoint("8.2"), head.mesh.triangles, posed);
  const double most = pointsOf(head).at("8.2").y() - double(lower.y());
  EXPECT_GT(most, 0.01);
  double all = 0, dragged = 0;
  for (std::size_t v = 0; v < posed.size(); ++v) {
    const JointId joint = head.skin.slots[head.skin[v].front().slot].joint;
    const auto at = std::find(rig.joints.begin(), rig.joints.end(), joint);
    if (at == rig.joints.end() ||
        !upper.contains(controlPointNumbers()[static_cast<std::size_t>(at - rig.joints.begin())]))
      continue;
    ++all;
    dragged += double(head.mesh.positions[v].y() - posed[v].y()) > 0.5 * most;
  }
  EXPECT_GT(all, 50);
  return dragged / all;
}

/// Scanned heads: lids and lips lead into sockets and a mouth bag, nothing lies on a vertex.
TEST(FaceRigData, ScannedHeadsBlinkAndOpenTheirMouths) {
  DERM_PACKED_DATA_OR_SKIP(folder, "faces-ict");
  Diagnostics notes;
  // The numbering of the landmarks is this file's; the others have the same vertices.
  const Character numbered =
      loadCharacter(folder / "ict_generic_55morphs.glb", {.metres_per_unit = 0.01}, notes).value();
  Character head = numbered;
  head.morphs.clear();
  head.clips.clear();
  for (MeshInstance& m : head.instances) m.first_morph = m.morph_count = 0;
  head.points = placePoints(namedPositions(folder, head), head.mesh, 1, notes).value();
  const Result<FaceRig> rig = addFaceRig(head, {}, notes);
  ASSERT_TRUE(rig) << rig.error().text();
  EXPECT_EQ(notes.count("face-lips-joined"), 0u);
  EXPECT_LE(head.skin.maxInfluences(), 4u);
  const std::vector<Vec3f> blink = inExpression(head, *rig, "blink");
  for (const FaceSide side : {FaceSide::Left, FaceSide::Right})
    EXPECT_LT(gapOf(head, blink, side), 0.1);
  EXPECT_EQ(draggedShare(head, *rig, inExpression(head, *rig, "jawOpen")), 0);
}

/// The cast's painted heads: control points on the margins' own vertices.
TEST(FaceRigData, TheCastsHeadsShutTheirEyesAlongTheWholeMargin) {
  for (const std::string_view name : {"woman", "man", "toon"}) {
    SCOPED_TRACE(name);
    Character head = makeCastMember(name).value();
    Diagnostics notes;
    const Result<FaceRig> rig = addFaceRig(head, {}, notes);
    ASSERT_TRUE(rig) << rig.error().text();
    const std::vector<Vec3f> blink = inExpression(head, *rig, "blink");
    for (const FaceSide side : {FaceSide::Left, FaceSide::Right})
      EXPECT_LT(gapOf(head, blink, side), 0.005);
    EXPECT_EQ(draggedShare(head, *rig, inExpression(head, *rig, "jawOpen")), 0);
  }
}

}  // namespace
}  // namespace derm
