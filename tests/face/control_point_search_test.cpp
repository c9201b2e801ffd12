#include "derm/face/control_point_search.h"

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/face/face_slits.h"
#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"

#include "face_fixtures.h"
#include "support/unpacked.h"

namespace derm::control_point_search_test {
namespace {

ReferenceHead castHead(const std::string& name, int* made = nullptr) {
  return {name, [name, made] {
            if (made != nullptr) ++*made;
            return makeCastMember(name);
          }};
}

/// % of the head's diagonal.
double meanError(const TriMesh& head, const std::vector<LabelledPoint>& found,
                 const std::vector<LabelledPoint>& truth) {
  double sum = 0;
  for (const LabelledPoint& p : found)
    for (const LabelledPoint& q : truth)
      if (p.label == q.label)
        sum += double((positionAt(p.point, head.triangles, head.positions) -
                       positionAt(q.point, head.triangles, head.positions))
                          .norm());
  return 100 * sum / double(found.size()) / bounds(head.positions).diagonal();
}

/// [1] Largest distance of a lid's point from its margin's vertices, over the eye's width.
double farthestFromMargin(const TriMesh& head, const std::vector<LabelledPoint>& points) {
  Diagnostics notes;
  const FaceSlits slits = findFaceSlits(head, points, notes);
  double farthest = 0;
  const auto look = [&](const std::optional<FaceSlit>& slit, std::string_view label, bool upper) {
    EXPECT_TRUE(slit.has_value());
    if (!slit) return;
    for (const LabelledPoint& p : points) {
      if (p.label != label) continue;
      const Vec3f at = positionAt(p.point, head.triangles, head.positions);
      double nearest = 1;
      const std::vector<std::uint32_t>& chain = upper ? slit->upper : slit->lower;
      for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
        const Vec3f a = head.positions[chain[i]], b = head.positions[chain[i + 1]];
        const float t = std::clamp((at - a).dot(b - a) / (b - a).squaredNorm(), 0.0f, 1.0f);
        nearest = std::min(nearest, double((a + t * (b - a) - at).norm()) / slit->width_m);
      }
      farthest = std::max(farthest, nearest);
    }
  };
  look(slits.left_eye, "3.1", true);
  look(slits.left_eye, "3.3", false);
  look(slits.right_eye, "3.2", true);
  look(slits.right_eye, "3.4", false);
  return farthest;
}

/// [1] How far the lips' points lie off those known at most, over the mouth's width.
double farthestOfLips(const TriMesh& head, const std::vector<LabelledPoint>& found,
                      const std::vector<LabelledPoint>& truth) {
  double farthest = 0, width = 1;
  const auto at = [&](const std::vector<LabelledPoint>& points, std::string_view label) {
    for (const LabelledPoint& p : points)
      if (p.label == label) return positionAt(p.point, head.triangles, head.positions);
    ADD_FAILURE() << label;
    return Vec3f(0, 0, 0);
  };
  width = double((at(truth, "8.3") - at(truth, "8.4")).norm());
  for (const std::string_view label : {"8.1", "8.2", "8.3", "8.4"})
    farthest = std::max(farthest, double((at(found, label) - at(truth, label)).norm()) / width);
  return farthest;
}

TEST(ControlPointSearch, TakesTheFirstGoodReferenceAndPutsLidsOnTheirMargins) {
  const Character woman = makeCastMember("woman").value();
  int toons = 0;
  const std::array<ReferenceHead, 2> references = {castHead("man"), castHead("toon", &toons)};
  Diagnostics notes;
  const Result<FoundControlPoints> found =
      findControlPoints(woman.mesh, references, HeadPose::Unknown, notes);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->reference, "man");
  EXPECT_EQ(toons, 0);
  EXPECT_EQ(found->points.size(), 28u);
  EXPECT_GT(found->confidence, 0.5);
  EXPECT_LT(meanError(woman.mesh, found->points, woman.points), 0.5);
  EXPECT_LT(farthestFromMargin(woman.mesh, found->points), 0.002);
}

TEST(ControlPointSearch, OfPoorFitsTheBestCounts) {
  const Character woman = makeCastMember("woman").value();
  const std::array<ReferenceHead, 2> references = {castHead("toon"), castHead("man")};
  Diagnostics notes;
  const Result<FoundControlPoints> found =
      findControlPoints(woman.mesh, references, HeadPose::Upright, notes);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->reference, "man");
  EXPECT_EQ(notes.count("doubtful-registration"), 0u) << "the toon's doubts are not the man's";
}

TEST(ControlPointSearch, AReferenceThatCannotBeMadeIsAnError) {
  const std::array<ReferenceHead, 1> references = {castHead("nobody")};
  Diagnostics notes;
  EXPECT_FALSE(findControlPoints(makeCastMember("head-a").value().mesh, references,
                                 HeadPose::Upright, notes));
}

/// Points of scanned heads from a painted one: what "the eye's outer corner" means differs too.
TEST(ControlPointSearchData, ScannedHeadsGetTheirPoints) {
  DERM_PACKED_DATA_OR_SKIP(folder, "faces-ict");
  Diagnostics notes;
  TriMesh head =
      loadCharacter(folder / "ict_generic_55morphs.glb", {.metres_per_unit = 0.01}, notes)
          .value()
          .mesh;
  head.normals.clear();
  for (const std::string name : {"generic", "id_A", "id_sample"}) {
    SCOPED_TRACE(name);
    head.positions = testing_support::ictPositions((folder / (name + "_neutral.obj")).string());
    const std::array<ReferenceHead, 1> references = {castHead("man")};
    const Result<FoundControlPoints> found =
        findControlPoints(head, references, HeadPose::Unknown, notes);
    ASSERT_TRUE(found) << found.error().text();
    const std::vector<LabelledPoint> truth =
        testing_support::ictPoints((folder / "landmarks68.txt").string(), head);
    EXPECT_LT(meanError(head, found->points, truth), 1.4);
    EXPECT_LT(farthestFromMargin(head, found->points), 0.002);
    EXPECT_LT(farthestOfLips(head, found->points, truth), 0.12);
  }
}

}  // namespace
}  // namespace derm::control_point_search_test
