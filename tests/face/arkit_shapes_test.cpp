#include "derm/face/arkit_shapes.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/face/expression_names.h"
#include "derm/face/face_slits.h"
#include "derm/face/head_shapes.h"
#include "derm/mesh/normals.h"
#include "derm/mesh/triangle_tree.h"
#include "derm/mesh/weld.h"

namespace derm::arkit_shapes_test {
namespace {

Character head(const char* name) { return *makeCastMember(name); }

const MorphTarget& named(const std::vector<MorphTarget>& shapes, std::string_view name) {
  return *std::find_if(shapes.begin(), shapes.end(),
                       [&](const MorphTarget& s) { return s.name == name; });
}

void add(const MorphTarget& shape, std::vector<Vec3f>& positions) {
  for (std::size_t i = 0; i < shape.vertices.size(); ++i)
    positions[shape.vertices[i]] += shape.positions[i];
}

/// [m] largest distance of the upper margin's vertices, but for `ends` at each corner, to the lower
/// margin.
double gap(const FaceSlit& slit, const std::vector<Vec3f>& at, std::size_t ends) {
  double largest = 0;
  for (std::size_t k = ends; k + ends < slit.upper.size(); ++k) {
    const Vec3d p = at[slit.upper[k]].cast<double>();
    double nearest = INFINITY;
    for (std::size_t i = 0; i + 1 < slit.lower.size(); ++i) {
      const Vec3d a = at[slit.lower[i]].cast<double>(), b = at[slit.lower[i + 1]].cast<double>();
      nearest = std::min(nearest, (a + closestOnSegment(p, a, b) * (b - a) - p).norm());
    }
    largest = std::max(largest, nearest);
  }
  return largest;
}

class ArkitShapesOf : public ::testing::TestWithParam<const char*> {};

TEST_P(ArkitShapesOf, AHeadHaveArkitsNamesShutEyesAndMeetingLips) {
  Character c = head(GetParam());
  Diagnostics notes;
  const Result<std::vector<MorphTarget>> shapes = arkitShapes(c, notes);
  ASSERT_TRUE(shapes.ok()) << shapes.error().text();
  ASSERT_EQ(shapes->size(), 52u);
  for (std::size_t i = 0; i < 52; ++i) {
    const MorphTarget& shape = (*shapes)[i];
    EXPECT_EQ(shape.name, faceShapes()[i].name);
    EXPECT_TRUE(validate(shape, c.mesh.vertexCount(), "").ok());
    EXPECT_EQ(shape.vertices.empty(), shape.name == "tongueOut") << shape.name;
  }
  EXPECT_EQ(notes.count("shapes-empty"), 1u);

  const FaceSlits slits = findFaceSlits(c.mesh, c.points, notes);
  ASSERT_TRUE(slits.left_eye && slits.right_eye && slits.mouth);
  for (const bool left : {true, false}) {
    const FaceSlit& eye = left ? *slits.left_eye : *slits.right_eye;
    std::vector<Vec3f> at = c.mesh.positions;
    add(named(*shapes, left ? "eyeBlinkLeft" : "eyeBlinkRight"), at);
    EXPECT_LE(gap(eye, at, 0), 0.005 * eye.opening_m);
    EXPECT_GT(gap(eye, c.mesh.positions, 0), 0.5 * eye.opening_m);
  }
  std::vector<Vec3f> open = c.mesh.positions;
  add(named(*shapes, "jawOpen"), open);
  EXPECT_GT(gap(*slits.mouth, open, 3), 0.15 * slits.mouth->width_m);
  add(named(*shapes, "mouthClose"), open);
  // The chains lie behind each other by as much as at rest.
  EXPECT_LT(gap(*slits.mouth, open, 3),
            gap(*slits.mouth, c.mesh.positions, 3) + 0.03 * slits.mouth->width_m);
  // Its normals are made for the sum, too: their changes do not add up from rest.
  const std::vector<std::uint32_t> weld = weldMap(c.mesh.positions);
  const std::vector<Vec3f> wanted = areaWeightedNormals(open, c.mesh.triangles, weld);
  std::vector<Vec3f> summed = areaWeightedNormals(c.mesh.positions, c.mesh.triangles, weld);
  for (const char* name : {"jawOpen", "mouthClose"}) {
    const MorphTarget& shape = named(*shapes, name);
    for (std::size_t i = 0; i < shape.vertices.size(); ++i)
      summed[shape.vertices[i]] += shape.normals[i];
  }
  for (std::size_t v = 0; v < summed.size(); ++v)
    EXPECT_LT((summed[v] - wanted[v]).norm(), 0.02f) << v;

  setShapes(c, *shapes, notes);
  EXPECT_TRUE(validate(c).ok());
  EXPECT_EQ(named(shapesOf(c), "jawOpen").vertices, named(*shapes, "jawOpen").vertices);
}

INSTANTIATE_TEST_SUITE_P(Cast, ArkitShapesOf, ::testing::Values("woman", "man", "toon"));

TEST(ArkitShapes, LeftAndRightAreMirrorImages) {
  const Character c = head("head-a");
  const FacePoints points = *facePoints(c.points, c.mesh);
  for (const FaceShape& shape : faceShapes()) {
    if (shape.side != FaceSide::Left) continue;
    const auto left = faceShapeDisplacements(shape.name, points);
    const auto right = faceShapeDisplacements(shape.mirror, points);
    ASSERT_TRUE(left.ok() && right.ok());
    ASSERT_EQ(left->size(), right->size()) << shape.name;
    for (const PointDisplacement& d : *left) {
      const auto other = std::find_if(
          right->begin(), right->end(),
          [&](const PointDisplacement& r) { return r.point == findFaceFeature(d.point)->mirror; });
      ASSERT_NE(other, right->end()) << shape.name << " " << d.point;
      const Vec3d mirrored(-d.displacement_m.x(), d.displacement_m.y(), d.displacement_m.z());
      EXPECT_LT((other->displacement_m - mirrored).norm(), 1e-6) << shape.name << " " << d.point;
    }
  }
}

TEST(ArkitShapes, SayWhatIsMissing) {
  Character c = head("head-a");
  const FacePoints points = *facePoints(c.points, c.mesh);
  EXPECT_NE(faceShapeDisplacements("mouthSmileLeff", points).error().text().find("mouthSmileLeft"),
            std::string::npos);
  c.points.clear();
  Diagnostics notes;
  EXPECT_FALSE(arkitShapes(c, notes).ok());
}

}  // namespace
}  // namespace derm::arkit_shapes_test
