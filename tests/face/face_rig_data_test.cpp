#include <array>
#include <set>

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/cast/cast.h"
#include "derm/face/control_points.h"
#include "derm/face/face_slits.h"
#include "derm/face/landmark_correspondence.h"
#include "derm/face/rig_transfer.h"
#include "derm/io/character_file.h"
#include "derm/mesh/triangle_tree.h"

#include "face_fixtures.h"
#include "held_face.h"
#include "played_face.h"
#include "rigged_head.h"
#include "support/unpacked.h"

namespace derm::face_rig_data_test {
namespace {

using testing_support::gapOf;
using testing_support::held;

/// What is allowed of it.
constexpr double kLargestGap = 0.005;

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

/// [1] Least height of an open mouth a tenth of its width away from the corners, over its largest:
/// 0.6 of an ellipse, 0.2 of a rhombus.
double roundness(const Character& head, const std::vector<Vec3f>& posed) {
  Diagnostics notes;
  const std::optional<FaceSlit> mouth = findFaceSlits(head.mesh, head.points, notes).mouth;
  EXPECT_TRUE(mouth.has_value());
  if (!mouth) return 0;
  const auto heightAt = [&](const std::vector<std::uint32_t>& chain, double x) {
    double nearest = 1, height = 0;
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
      const Vec3d a = posed[chain[i]].cast<double>(), b = posed[chain[i + 1]].cast<double>();
      const double t = a.x() == b.x() ? 0 : std::clamp((x - a.x()) / (b.x() - a.x()), 0.0, 1.0);
      if (const double off = std::abs(a.x() + t * (b.x() - a.x()) - x); off < nearest) {
        nearest = off;
        height = a.y() + t * (b.y() - a.y());
      }
    }
    return height;
  };
  const double first = double(posed[mouth->upper.front()].x());
  const double last = double(posed[mouth->upper.back()].x());
  const auto openAt = [&](double share) {
    const double x = first + share * (last - first);
    return heightAt(mouth->upper, x) - heightAt(mouth->lower, x);
  };
  return std::min(openAt(0.1), openAt(0.9)) / openAt(0.5);
}

/// Longest edge over its length at rest, of the skin around the mouth as far as one sees it.
double stretchAroundMouth(const Character& head, const std::vector<Vec3f>& posed) {
  const FacePoints points = pointsOf(head);
  const double width = (points.at("8.3") - points.at("8.4")).norm();
  const Vec3d middle = 0.5 * (points.at("8.3") + points.at("8.4"));
  TriMesh around = head.mesh;
  std::erase_if(around.triangles, [&](const Triangle& t) {
    const Vec3d p = head.mesh.positions[t[0]].cast<double>() - middle;
    return p.norm() > width || p.z() < -0.15 * width;
  });
  return largestStretch(around, posed);
}

/// [1] How far lips pass through each other, over the mouth's width.
double lipsCross(const Character& head, const std::vector<Vec3f>& posed) {
  Diagnostics notes;
  const std::optional<FaceSlit> mouth = findFaceSlits(head.mesh, head.points, notes).mouth;
  EXPECT_TRUE(mouth.has_value());
  return mouth
             ? testing_support::MarginCrossing(*mouth, head.mesh.positions)(posed) / mouth->width_m
             : 0;
}

/// [1] Largest change of direction between neighbouring steps of what the lower lip's margin does
/// along its length, away from the corners, over its largest motion: 0 of an even one.
double lipRoughness(const Character& head, const std::vector<Vec3f>& posed) {
  Diagnostics notes;
  const std::optional<FaceSlit> mouth = findFaceSlits(head.mesh, head.points, notes).mouth;
  EXPECT_TRUE(mouth.has_value());
  if (!mouth) return 0;
  const std::vector<std::uint32_t>& chain = mouth->lower;
  const auto moved = [&](std::size_t i) {
    return Vec3d((posed[chain[i]] - head.mesh.positions[chain[i]]).cast<double>());
  };
  const auto along = [&](std::size_t i) {
    return mouth->along.dot(head.mesh.positions[chain[i]].cast<double>());
  };
  double most = 0, rough = 0;
  for (std::size_t i = 0; i < chain.size(); ++i) most = std::max(most, moved(i).norm());
  for (std::size_t i = 1; i + 1 < chain.size(); ++i) {
    const double t = (along(i) - along(0)) / (along(chain.size() - 1) - along(0));
    const double step = along(i + 1) - along(i - 1);
    if (t < 0.15 || t > 0.85 || !(std::abs(step) > 0)) continue;
    const double share = (along(i) - along(i - 1)) / step;
    rough = std::max(rough,
                     (moved(i) - (1 - share) * moved(i - 1) - share * moved(i + 1)).norm() / most);
  }
  return rough;
}

/// [1/opening] Steepest fall of an upper lid's weight along an edge of the skin above the eye's
/// corners.
double lidSteepness(const Character& head, const FaceRig& rig) {
  Diagnostics notes;
  const FaceSlits slits = findFaceSlits(head.mesh, head.points, notes);
  const FacePoints points = pointsOf(head);
  const auto weight = [&](std::uint32_t v, JointId joint) {
    double sum = 0;
    for (const Influence& i : head.skin[v])
      if (head.skin.slots[i.slot].joint == joint) sum += double(i.weight);
    return sum;
  };
  double out = 0;
  for (const auto& [eye, number] : {std::pair{&slits.left_eye, "3.1"}, {&slits.right_eye, "3.2"}}) {
    if (!*eye) continue;
    const auto at = std::find(controlPointNumbers().begin(), controlPointNumbers().end(), number);
    const JointId joint = rig.joints[static_cast<std::size_t>(at - controlPointNumbers().begin())];
    const double opening = (*eye)->opening_m;
    const bool left = eye == &slits.left_eye;
    const Vec3d &outer = points.at(left ? "3.7" : "3.12"),
                &inner = points.at(left ? "3.11" : "3.8");
    const double line = std::max(outer.y(), inner.y()), depth = std::min(outer.z(), inner.z());
    for (const Triangle& t : head.mesh.triangles)
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint32_t a = t[k], b = t[(k + 1) % 3];
        const Vec3d p = head.mesh.positions[a].cast<double>(),
                    q = head.mesh.positions[b].cast<double>();
        if (std::min(p.y(), q.y()) < line || std::min(p.z(), q.z()) < depth) continue;
        // Of tiny edges rounding and corrections of single vertices count most.
        const double length = std::max((p - q).norm(), 0.15 * opening);
        out = std::max(out, std::abs(weight(a, joint) - weight(b, joint)) * opening / length);
      }
  }
  return out;
}

std::vector<Vec3f> scannedPositions(const std::filesystem::path& folder, const std::string& name) {
  std::vector<Vec3f> out =
      testing_support::ictPositions((folder / (name + "_neutral.obj")).string());
  for (Vec3f& p : out) p *= 0.01f;
  return out;
}

/// A scanned head without shapes, with control points between its vertices.
Character scannedHead(const std::filesystem::path& folder, std::vector<Vec3f> positions) {
  Diagnostics notes;
  // The numbering of the landmarks is this file's; the others have the same vertices.
  Character head =
      loadCharacter(folder / "ict_generic_55morphs.glb", {.metres_per_unit = 0.01}, notes).value();
  head.morphs.clear();
  head.clips.clear();
  for (MeshInstance& m : head.instances) m.first_morph = m.morph_count = 0;
  head.mesh.positions = std::move(positions);
  head.points =
      placePoints(testing_support::controlPositions(folder / "landmarks68.txt", head.mesh),
                  head.mesh, 1, notes)
          .value();
  return head;
}

/// Scanned heads: lids and lips lead into sockets and a mouth bag, nothing lies on a vertex.
TEST(FaceRigData, ScannedHeadsBlinkAndOpenTheirMouths) {
  DERM_PACKED_DATA_OR_SKIP(folder, "faces-ict");
  for (const std::string name : {"generic", "id_A", "id_B", "id_C", "id_sample"}) {
    SCOPED_TRACE(name);
    Character head = scannedHead(folder, scannedPositions(folder, name));
    Diagnostics notes;
    const Result<FaceRig> rig = addFaceRig(head, {}, notes);
    ASSERT_TRUE(rig) << rig.error().text();
    EXPECT_EQ(notes.count("face-lips-joined"), 0u);
    EXPECT_LE(head.skin.maxInfluences(), 4u);
    EXPECT_LE(gapOf(head, held(head, "blink")), kLargestGap);
    EXPECT_EQ(draggedShare(head, *rig, held(head, "jawOpen")), 0);
    // Lips of these heads touch at rest, with edges of 0.2 mm in the corners' folds.
    EXPECT_GE(roundness(head, held(head, "jawOpen")), 0.3);
    EXPECT_LE(stretchAroundMouth(head, held(head, "joy")), 7);
    EXPECT_LE(stretchAroundMouth(head, held(head, "jawOpen")), 11);
    for (const std::string_view clip : {"anger", "sadness", "joy"})
      EXPECT_LE(lipsCross(head, held(head, clip)), 0.01) << clip;
    EXPECT_LE(lidSteepness(head, *rig), 4);
  }
}

/// People between and beyond the five, of other proportions and more or less curved: outer corners
/// that lie deep in the head or below a fold, lids that hide them.
TEST(FaceRigData, HeadsOfRandomPeopleShutTheirEyes) {
  DERM_PACKED_DATA_OR_SKIP(folder, "faces-ict");
  const std::vector<Vec3f> generic = scannedPositions(folder, "generic");
  std::vector<std::vector<Vec3f>> people;
  for (const char* name : {"id_A", "id_B", "id_C", "id_sample"})
    people.push_back(scannedPositions(folder, name));
  Rng rng(7);
  for (int k = 0; k < 20; ++k) {
    SCOPED_TRACE(k);
    std::array<float, 4> shares;
    for (float& share : shares) share = static_cast<float>(rng.uniform(-0.6, 1.0));
    const Vec3f scale(static_cast<float>(rng.uniform(0.85, 1.15)),
                      static_cast<float>(rng.uniform(0.85, 1.15)),
                      static_cast<float>(rng.uniform(0.85, 1.15)));
    const float bend = static_cast<float>(rng.uniform(-3, 3));  // [1/m]
    std::vector<Vec3f> positions = generic;
    for (std::size_t v = 0; v < positions.size(); ++v) {
      for (std::size_t i = 0; i < people.size(); ++i)
        positions[v] += shares[i] * (people[i][v] - generic[v]);
      positions[v] = positions[v].cwiseProduct(scale);
      positions[v].z() += bend * positions[v].x() * positions[v].x();
    }
    Character head = scannedHead(folder, std::move(positions));
    Diagnostics notes;
    const Result<FaceRig> rig = addFaceRig(head, {}, notes);
    ASSERT_TRUE(rig) << rig.error().text();
    EXPECT_LE(gapOf(head, held(head, "blink")), kLargestGap);
  }
}

/// The cast's painted heads: control points on vertices of the lids' rims.
TEST(FaceRigData, TheCastsHeadsShutTheirEyesAlongTheWholeMargin) {
  for (const std::string_view name : {"woman", "man", "toon"}) {
    SCOPED_TRACE(name);
    Character head = makeCastMember(name).value();
    Diagnostics notes;
    const Result<FaceRig> rig = addFaceRig(head, {}, notes);
    ASSERT_TRUE(rig) << rig.error().text();
    EXPECT_LE(head.skin.maxInfluences(), 4u);
    EXPECT_LE(gapOf(head, held(head, "blink")), kLargestGap);
    EXPECT_EQ(draggedShare(head, *rig, held(head, "jawOpen")), 0);
    EXPECT_GE(roundness(head, held(head, "jawOpen")), 0.4);
    EXPECT_LE(stretchAroundMouth(head, held(head, "joy")), 4.5);
    EXPECT_LE(stretchAroundMouth(head, held(head, "jawOpen")), 3.5);
    for (const std::string_view clip : {"anger", "sadness", "joy"})
      EXPECT_LE(lipsCross(head, held(head, clip)), 0.01) << clip;
    EXPECT_LE(lidSteepness(head, *rig), 4);
  }
}

/// What a transfer leaves: other heads' weights around lids that are the target's own.
TEST(FaceRigData, EyesShutAfterATransferToo) {
  Diagnostics notes;
  Character source = makeCastMember("man").value();
  source.clips.clear();
  ASSERT_TRUE(addFaceRig(source, {}, notes));
  std::vector<std::pair<std::string, Character>> targets = {
      {"woman", makeCastMember("woman").value()}};
  if (const auto folder = testing_support::unpackedFolder("faces-ict"); !folder.empty())
    for (const std::string name : {"generic", "id_A", "id_B", "id_C", "id_sample"})
      targets.emplace_back(name, scannedHead(folder, scannedPositions(folder, name)));
  for (auto& [name, target] : targets) {
    SCOPED_TRACE(name);
    target.clips.clear();
    const Result<HeadCorrespondence> dense =
        landmarkCorrespondence(source.mesh, source.points, target.mesh, target.points, notes);
    ASSERT_TRUE(dense) << dense.error().text();
    const Result<FaceRig> rig = transferFaceRig(source, target, *dense, {}, notes);
    ASSERT_TRUE(rig) << rig.error().text();
    EXPECT_LE(target.skin.maxInfluences(), 4u);
    EXPECT_LE(gapOf(target, held(target, "blink")), kLargestGap);
    EXPECT_EQ(draggedShare(target, *rig, held(target, "jawOpen")), 0);
    EXPECT_LE(lipRoughness(target, held(target, "jawOpen")), 0.02);
    EXPECT_LE(stretchAroundMouth(target, held(target, "joy")), 8);
    EXPECT_LE(lipsCross(target, held(target, "anger")), 0.01);
  }
}

}  // namespace
}  // namespace derm::face_rig_data_test
