#include <set>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/face/control_points.h"
#include "derm/face/face_slits.h"
#include "derm/face/landmark_correspondence.h"
#include "derm/face/rig_transfer.h"
#include "derm/io/character_file.h"
#include "derm/mesh/triangle_tree.h"

#include "face_fixtures.h"
#include "rigged_head.h"
#include "support/unpacked.h"

namespace derm::face_rig_data_test {
namespace {

/// The skin when a clip holds its expression.
std::vector<Vec3f> held(const Character& head, std::string_view name) {
  for (const Clip& clip : head.clips)
    if (clip.name == name)
      return testing_support::skinned(
                 head, testing_support::poseAt(head, clip, name == "blink" ? 0.1 : 0.4),
                 SkinningMethod::Linear)
          .positions;
  ADD_FAILURE() << "no clip " << name;
  return head.mesh.positions;
}

/// [1] Largest distance of an upper margin's vertices to the lower margin, seen from the front,
/// over the opening at rest; of both eyes.
double gapOf(const Character& head, const std::vector<Vec3f>& posed) {
  Diagnostics notes;
  const FaceSlits slits = findFaceSlits(head.mesh, head.points, notes);
  EXPECT_TRUE(slits.left_eye && slits.right_eye);
  const auto seen = [&](std::uint32_t v) { return Vec3d(posed[v].x(), posed[v].y(), 0); };
  double largest = 0;
  for (const std::optional<FaceSlit>* eye : {&slits.left_eye, &slits.right_eye}) {
    if (!*eye) continue;
    const std::vector<std::uint32_t>& lower = (*eye)->lower;
    EXPECT_GT((*eye)->upper.size(), 5u);
    for (const std::uint32_t v : (*eye)->upper) {
      double nearest = 1;
      for (std::size_t i = 0; i + 1 < lower.size(); ++i) {
        const Vec3d a = seen(lower[i]), b = seen(lower[i + 1]);
        const double t = closestOnSegment(seen(v), a, b);
        nearest = std::min(nearest, (a + t * (b - a) - seen(v)).norm());
      }
      largest = std::max(largest, nearest / (*eye)->opening_m);
    }
  }
  return largest;
}

/// What is allowed of it. On this one head the upper margin's last vertex lies beside the lower
/// margin's end, and no lid's motion brings it there.
double largestGap(std::string_view name) { return name == "id_B" ? 0.03 : 0.005; }

/// What is allowed of draggedShare(): none, but on three scanned heads a few vertices (0.2, 0.5 and
/// 0.3 % of the upper lip's) are dragged along.
double largestDrag(std::string_view name) {
  return name == "id_A" || name == "id_B" || name == "id_sample" ? 0.006 : 0;
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

/// A scanned head without shapes, with control points between its vertices.
Character scannedHead(const std::filesystem::path& folder, const std::string& name) {
  Diagnostics notes;
  // The numbering of the landmarks is this file's; the others have the same vertices.
  Character head =
      loadCharacter(folder / "ict_generic_55morphs.glb", {.metres_per_unit = 0.01}, notes).value();
  head.morphs.clear();
  head.clips.clear();
  for (MeshInstance& m : head.instances) m.first_morph = m.morph_count = 0;
  head.mesh.positions = testing_support::ictPositions((folder / (name + "_neutral.obj")).string());
  for (Vec3f& p : head.mesh.positions) p *= 0.01f;
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
    Character head = scannedHead(folder, name);
    Diagnostics notes;
    const Result<FaceRig> rig = addFaceRig(head, {}, notes);
    ASSERT_TRUE(rig) << rig.error().text();
    EXPECT_EQ(notes.count("face-lips-joined"), 0u);
    EXPECT_LE(head.skin.maxInfluences(), 4u);
    EXPECT_LE(gapOf(head, held(head, "blink")), largestGap(name));
    EXPECT_LE(draggedShare(head, *rig, held(head, "jawOpen")), largestDrag(name));
    // Lips of these heads touch at rest, with edges of 0.2 mm in the corners' folds.
    EXPECT_GE(roundness(head, held(head, "jawOpen")), 0.3);
    EXPECT_LE(stretchAroundMouth(head, held(head, "joy")), 7);
    EXPECT_LE(stretchAroundMouth(head, held(head, "jawOpen")), 11);
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
    EXPECT_LE(gapOf(head, held(head, "blink")), 0.005);
    EXPECT_EQ(draggedShare(head, *rig, held(head, "jawOpen")), 0);
    EXPECT_GE(roundness(head, held(head, "jawOpen")), 0.4);
    EXPECT_LE(stretchAroundMouth(head, held(head, "joy")), 4.5);
    EXPECT_LE(stretchAroundMouth(head, held(head, "jawOpen")), 3.5);
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
      targets.emplace_back(name, scannedHead(folder, name));
  for (auto& [name, target] : targets) {
    SCOPED_TRACE(name);
    target.clips.clear();
    const Result<HeadCorrespondence> dense =
        landmarkCorrespondence(source.mesh, source.points, target.mesh, target.points, notes);
    ASSERT_TRUE(dense) << dense.error().text();
    const Result<FaceRig> rig = transferFaceRig(source, target, *dense, {}, notes);
    ASSERT_TRUE(rig) << rig.error().text();
    EXPECT_LE(target.skin.maxInfluences(), 4u);
    EXPECT_LE(gapOf(target, held(target, "blink")), largestGap(name));
    EXPECT_LE(draggedShare(target, *rig, held(target, "jawOpen")), largestDrag(name));
  }
}

}  // namespace
}  // namespace derm::face_rig_data_test
