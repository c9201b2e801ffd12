#include "derm/mesh/surface_point.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "derm/mesh/triangle_tree.h"

#include "support/shelf.h"

namespace derm::surface_point_test {
namespace {

TEST(SurfacePoint, ValuesAreMixedByTheSharesOfTheCorners) {
  const TriMesh cube = shelf::cube(2);
  const Triangle& t = cube.triangles[5];
  const SurfacePoint p{5, Vec3f(0.5f, 0.25f, 0.25f)};
  const Vec3f expected =
      0.5f * cube.positions[t[0]] + 0.25f * cube.positions[t[1]] + 0.25f * cube.positions[t[2]];
  EXPECT_EQ(positionAt(p, cube.triangles, cube.positions), expected);
  const std::vector<Vec2f> uvs = {{0, 0}, {1, 0}, {0, 1}};
  const std::vector<Triangle> one = {{0, 1, 2}};
  EXPECT_EQ(valueAt<Vec2f>({0, Vec3f(0.5f, 0.25f, 0.25f)}, one, uvs), Vec2f(0.25f, 0.25f));
}

TEST(SurfacePoint, NormalsHaveUnitLengthAndFallBackOnTheTriangle) {
  const std::vector<Triangle> one = {{0, 1, 2}};
  const std::vector<Vec3f> corners = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const SurfacePoint middle{0, Vec3f::Constant(1.0f / 3)};
  const std::vector<Vec3f> leaning = {{1, 0, 0}, {0, 0, 1}, {0, 0, 1}};
  const Vec3f n = normalAt(middle, one, corners, leaning);
  EXPECT_NEAR(n.norm(), 1, 1e-6f);
  EXPECT_NEAR(n.z(), 2 / std::sqrt(5.0f), 1e-6f);
  EXPECT_EQ(normalAt(middle, one, corners, {}), Vec3f(Vec3f::UnitZ()));
  // Opposite normals say nothing.
  const std::vector<Vec3f> opposite = {{0, 1, 0}, {0, -1, 0}, {0, 0, 0}};
  EXPECT_EQ(normalAt({0, Vec3f(0.5f, 0.5f, 0)}, one, corners, opposite), Vec3f(Vec3f::UnitZ()));
  const std::vector<Vec3f> no_area(3, Vec3f(1, 2, 3));
  EXPECT_EQ(normalAt(middle, one, no_area, {}), Vec3f(Vec3f::UnitY()));
}

TEST(SurfacePoint, ValidateSaysWhatIsWrong) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(validate(SurfacePoint{2, Vec3f(0.2f, 0.3f, 0.5f)}, 3, "face"));
  const Result<void> beyond = validate(SurfacePoint{3, Vec3f::UnitX()}, 3, "face");
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().text(), "face: surface point on triangle 3 of 3");
  for (const Vec3f& shares : {Vec3f(0.5f, 0.5f, 0.1f), Vec3f(1.2f, -0.2f, 0), Vec3f(nan, 0, 1)})
    EXPECT_NE(validate(SurfacePoint{0, shares}, 1, "x").error().message.find("add up to 1"),
              std::string::npos);
}

TEST(SurfacePoint, TheNearestPointOfEveryShelfMeshIsValidAndNoVertexIsNearer) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    const TriangleTree tree(m.mesh.positions, m.mesh.triangles);
    for (const Vec3d& p : {Vec3d(0.3, 0.4, 2.0), Vec3d(-1, 0.1, 0.2), Vec3d(0, 0, 0)}) {
      const std::optional<SurfacePoint> found = nearestSurfacePoint(tree, p);
      EXPECT_EQ(found.has_value(), !m.mesh.triangles.empty());
      EXPECT_EQ(found, nearestSurfacePoint(m.mesh, p));
      if (!found) continue;
      EXPECT_TRUE(validate(*found, m.mesh.triangles.size(), m.name));
      const auto distance = [&](const Vec3f& q) { return (q.cast<double>() - p).norm(); };
      const double nearest = distance(positionAt(*found, m.mesh.triangles, m.mesh.positions));
      for (const Triangle& t : m.mesh.triangles)
        for (const std::uint32_t v : t)
          EXPECT_LE(nearest, distance(m.mesh.positions[v]) * (1 + 1e-5) + 1e-6);
    }
  }
}

TEST(SurfacePoint, NothingIsNearBeyondTheLargestDistance) {
  EXPECT_FALSE(nearestSurfacePoint(shelf::cube(1), Vec3d(9, 0, 0), 1.0));
  EXPECT_TRUE(nearestSurfacePoint(shelf::cube(1), Vec3d(9, 0, 0), 10.0));
}

TEST(SurfacePoint, APointOnTheSurfaceIsFoundAgain) {
  const TriMesh ball = shelf::sphere(9, 12, 0.5f);
  for (std::uint32_t t = 0; t < ball.triangles.size(); t += 7) {
    const Vec3f q = positionAt({t, Vec3f(0.2f, 0.5f, 0.3f)}, ball.triangles, ball.positions);
    const SurfacePoint found = nearestSurfacePoint(ball, q.cast<double>()).value();
    EXPECT_LT((positionAt(found, ball.triangles, ball.positions) - q).norm(), 1e-6f);
  }
}

}  // namespace
}  // namespace derm::surface_point_test
