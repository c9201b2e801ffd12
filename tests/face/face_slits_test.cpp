#include "derm/face/face_slits.h"

#include <gtest/gtest.h>

#include "derm/cast/heads.h"
#include "derm/io/character_file.h"

#include "face/face_fixtures.h"
#include "support/unpacked.h"

namespace derm::face_slits_test {
namespace {

TEST(FaceSlits, FindsTheMouthOfAHeadThatHasAHoleThere) {
  const SyntheticHeadDesc desc = syntheticHeadA();
  const Result<Character> head = makeSyntheticHead(desc);
  ASSERT_TRUE(head.ok());
  Diagnostics notes;
  const FaceSlits slits = findFaceSlits(head->mesh, head->points, notes);
  ASSERT_TRUE(slits.mouth.has_value());
  // The hole is an ellipse with half axes 0.85 of the mouth's width and 0.35 of the lips' height.
  EXPECT_NEAR(slits.mouth->width_m, 2 * 0.85 * 0.026, 0.003);
  EXPECT_NEAR(slits.mouth->opening_m, 2 * 0.35 * 0.0055, 0.002);
  EXPECT_EQ(slits.mouth->upper.front(), slits.mouth->lower.front());
  EXPECT_EQ(slits.mouth->upper.back(), slits.mouth->lower.back());
  const auto height = [&](std::uint32_t v) { return head->mesh.positions[v].y(); };
  EXPECT_GT(height(slits.mouth->upper[slits.mouth->upper.size() / 2]),
            height(slits.mouth->lower[slits.mouth->lower.size() / 2]));
  EXPECT_GT(slits.mouth->up.y(), 0.85);
  EXPECT_GT(slits.mouth->outward.z(), 0.85);
}

TEST(FaceSlits, SaysWhereNothingOpens) {
  SyntheticHeadDesc desc = syntheticHeadA();
  desc.mouth_slit = false;
  const Result<Character> head = makeSyntheticHead(desc);
  ASSERT_TRUE(head.ok());
  Diagnostics notes;
  const FaceSlits slits = findFaceSlits(head->mesh, head->points, notes);
  EXPECT_FALSE(slits.mouth.has_value());
  EXPECT_FALSE(slits.left_eye.has_value());  // its eyes are bumps
  EXPECT_EQ(notes.count("face-no-slit"), 3u);
}

TEST(FaceSlits, OfASurfaceThatIsInsideOut) {
  Character head = makeSyntheticHead(syntheticHeadA()).value();
  Diagnostics notes;
  const FaceSlits as_it_should = findFaceSlits(head.mesh, head.points, notes);
  for (Triangle& t : head.mesh.triangles) std::swap(t[1], t[2]);
  for (LabelledPoint& p : head.points) std::swap(p.point.barycentric[1], p.point.barycentric[2]);
  const FaceSlits turned = findFaceSlits(head.mesh, head.points, notes);
  ASSERT_TRUE(as_it_should.mouth && turned.mouth);
  EXPECT_EQ(turned.mouth->upper, as_it_should.mouth->upper);
  EXPECT_EQ(turned.mouth->lower, as_it_should.mouth->lower);
}

TEST(FaceSlits, LashesWithTwoSidesThatStandOnAMarginAreNoPartOfTheSkin) {
  Character head = makeSyntheticHead(syntheticHeadA()).value();
  Diagnostics notes;
  const FaceSlits bare = findFaceSlits(head.mesh, head.points, notes);
  ASSERT_TRUE(bare.mouth);
  const std::vector<std::uint32_t>& margin = bare.mouth->upper;
  for (int side = 0; side < 2; ++side) {
    const auto base = static_cast<std::uint32_t>(head.mesh.vertexCount());
    for (const std::uint32_t v : margin)
      for (const double out : {0.0, 0.004}) {
        const Vec3d p = head.mesh.positions[v].cast<double>() + out * bare.mouth->outward;
        head.mesh.positions.push_back(p.cast<float>());
        if (!head.mesh.normals.empty()) head.mesh.normals.push_back(Vec3f::UnitY());
        if (!head.mesh.uvs.empty()) head.mesh.uvs.push_back(Vec2f::Zero());
      }
    for (std::uint32_t i = 0; i + 1 < margin.size(); ++i)
      for (Triangle t :
           {Triangle{2 * i, 2 * i + 2, 2 * i + 1}, Triangle{2 * i + 1, 2 * i + 2, 2 * i + 3}}) {
        for (std::uint32_t& v : t) v += base;
        if (side == 1) std::swap(t[1], t[2]);
        head.mesh.triangles.push_back(t);
      }
  }
  const FaceSlits lashed = findFaceSlits(head.mesh, head.points, notes);
  ASSERT_TRUE(lashed.mouth);
  EXPECT_EQ(lashed.mouth->upper, bare.mouth->upper);
  EXPECT_EQ(lashed.mouth->lower, bare.mouth->lower);
}

TEST(FaceSlits, PointsMayHaveNamesInsteadOfNumbers) {
  Character head = makeSyntheticHead(syntheticHeadA()).value();
  Diagnostics notes;
  const FaceSlits by_number = findFaceSlits(head.mesh, head.points, notes);
  for (LabelledPoint& p : head.points) p.label = findFaceFeature(p.label)->name;
  const FaceSlits by_name = findFaceSlits(head.mesh, head.points, notes);
  ASSERT_TRUE(by_number.mouth && by_name.mouth);
  EXPECT_TRUE(*by_name.mouth == *by_number.mouth);
}

TEST(FaceSlits, WithoutControlPointsThereIsNothingToFind) {
  const Result<Character> head = makeSyntheticHead(syntheticHeadA());
  ASSERT_TRUE(head.ok());
  Diagnostics notes;
  const FaceSlits slits = findFaceSlits(head->mesh, std::vector<LabelledPoint>(), notes);
  EXPECT_FALSE(slits.mouth.has_value());
  EXPECT_TRUE(notes.empty());
}

TEST(FaceSlits, AreFoundWhereLidsAndLipsGoOnIntoSockets) {
  DERM_PACKED_DATA_OR_SKIP(folder, "faces-ict");
  Diagnostics notes;
  const Result<Character> generic = loadCharacter(folder / "ict_generic_55morphs.glb", {}, notes);
  ASSERT_TRUE(generic.ok()) << generic.error().text();
  for (const char* name : {"generic", "id_A", "id_B", "id_C", "id_sample"}) {
    SCOPED_TRACE(name);
    TriMesh mesh = generic->mesh;
    mesh.positions =
        testing_support::ictPositions((folder / (std::string(name) + "_neutral.obj")).string());
    ASSERT_EQ(mesh.positions.size(), generic->mesh.vertexCount());
    const auto points = testing_support::ictPoints((folder / "landmarks68.txt").string(), mesh);
    const FaceSlits slits = findFaceSlits(mesh, points, notes);
    for (const std::optional<FaceSlit>* eye : {&slits.left_eye, &slits.right_eye}) {
      ASSERT_TRUE(eye->has_value());
      EXPECT_NEAR((*eye)->width_m, 2.5, 0.3);  // the files' centimetres, taken as metres
      EXPECT_NEAR((*eye)->opening_m, 1.0, 0.25);
    }
    ASSERT_TRUE(slits.mouth.has_value());
    EXPECT_LT(slits.mouth->opening_m, 0.06 * slits.mouth->width_m);  // lips touch, or nearly
    // No vertex of the upper lip is in the lower one's chain, but for the corners.
    const auto& lower = slits.mouth->lower;
    for (std::size_t i = 1; i + 1 < slits.mouth->upper.size(); ++i)
      EXPECT_EQ(std::count(lower.begin(), lower.end(), slits.mouth->upper[i]), 0);
  }
}

}  // namespace
}  // namespace derm::face_slits_test
