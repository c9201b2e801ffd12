#include "derm/mesh/triangle_tree.h"

#include <cmath>

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/winding_number.h"

#include "support/shelf.h"

namespace derm::triangle_tree_test {
namespace {

Vec3d corner(const TriMesh& m, std::size_t t, int c) {
  return m.positions[m.triangles[t][c]].cast<double>();
}

/// A random point in a box somewhat larger than the mesh.
Vec3d pointNear(const TriMesh& m, Rng& rng) {
  const Bounds box = bounds(m.positions);
  Vec3d p;
  for (int axis = 0; axis < 3; ++axis)
    p[axis] = box.centre()[axis] + rng.uniform(-0.7, 0.7) * std::max(box.size()[axis], 1e-6f);
  return p;
}

double distanceToTriangle(const TriMesh& m, std::size_t t, const Vec3d& p) {
  // A dense search over the triangle would be no reference; Voronoi regions by plain projection
  // are.
  const Vec3d weights = closestOnTriangle(p, corner(m, t, 0), corner(m, t, 1), corner(m, t, 2));
  return (weights[0] * corner(m, t, 0) + weights[1] * corner(m, t, 1) +
          weights[2] * corner(m, t, 2) - p)
      .norm();
}

TEST(ClosestOnTriangle, IsNotBeatenByAnySampleOfTheTriangle) {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    Vec3d a, b, c, p;
    for (Vec3d* v : {&a, &b, &c, &p})
      for (int axis = 0; axis < 3; ++axis) (*v)[axis] = rng.uniform(-1, 1);
    if (round % 5 == 0) c = a + 0.3 * (b - a);  // no area
    if (round % 50 == 0) b = c = a;
    const Vec3d weights = closestOnTriangle(p, a, b, c);
    ASSERT_GE(weights.minCoeff(), 0);
    ASSERT_NEAR(weights.sum(), 1, 1e-12);
    const double found = (weights[0] * a + weights[1] * b + weights[2] * c - p).norm();
    for (int i = 0; i <= 20; ++i)
      for (int j = 0; i + j <= 20; ++j) {
        const Vec3d sample = a + (b - a) * (i / 20.0) + (c - a) * (j / 20.0);
        ASSERT_LE(found, (sample - p).norm() + 1e-12);
      }
  }
}

TEST(TriangleTree, ClosestPointAgreesWithBruteForceOnTheShelf) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    const TriangleTree tree(m.mesh.positions, m.mesh.triangles);
    EXPECT_EQ(tree.empty(), m.mesh.triangles.empty());
    Rng rng(11);
    for (int i = 0; i < 100; ++i) {
      const Vec3d p = pointNear(m.mesh, rng);
      std::size_t best = m.mesh.triangles.size();
      double distance = 0;
      for (std::size_t t = 0; t < m.mesh.triangles.size(); ++t) {
        const double d = distanceToTriangle(m.mesh, t, p);
        if (best == m.mesh.triangles.size() || d < distance) best = t, distance = d;
      }
      const auto found = tree.closestPoint(p);
      ASSERT_EQ(found.has_value(), !m.mesh.triangles.empty());
      if (!found) continue;
      ASSERT_NEAR(found->distance, distance, 1e-12 * bounds(m.mesh.positions).diagonal());
      ASSERT_NEAR((found->point - p).norm(), found->distance, 1e-9 * (1 + distance));
      EXPECT_FALSE(tree.closestPoint(p, 0.5 * distance).has_value() && distance > 0);
    }
  }
}

TEST(TriangleTree, OfEquallyNearTrianglesTheFirstIsGiven) {
  TriMesh m = shelf::cube();
  m.triangles.insert(m.triangles.end(), m.triangles.begin(), m.triangles.end());
  const TriangleTree tree(m.positions, m.triangles);
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    const auto found = tree.closestPoint(pointNear(m, rng));
    ASSERT_TRUE(found);
    EXPECT_LT(found->triangle, 12u);
  }
}

/// Moeller-Trumbore, written anew as a reference.
bool crosses(const TriMesh& m, std::size_t t, const Vec3d& from, const Vec3d& to, double& at) {
  const Vec3d e1 = corner(m, t, 1) - corner(m, t, 0), e2 = corner(m, t, 2) - corner(m, t, 0);
  const Vec3d step = to - from;
  const Vec3d p = step.cross(e2);
  const double determinant = e1.dot(p);
  if (determinant == 0) return false;
  const Vec3d s = from - corner(m, t, 0);
  const double u = s.dot(p) / determinant;
  const Vec3d q = s.cross(e1);
  const double v = step.dot(q) / determinant;
  at = e2.dot(q) / determinant;
  return u >= 0 && v >= 0 && u + v <= 1 && at >= 0 && at <= 1;
}

TEST(TriangleTree, FirstHitAgreesWithBruteForceOnTheShelf) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    const TriangleTree tree(m.mesh.positions, m.mesh.triangles);
    Rng rng(5);
    int hits = 0;
    for (int i = 0; i < 300; ++i) {
      const Vec3d from = pointNear(m.mesh, rng), to = pointNear(m.mesh, rng);
      double first = 2;
      for (std::size_t t = 0; t < m.mesh.triangles.size(); ++t)
        if (double at = 0; crosses(m.mesh, t, from, to, at)) first = std::min(first, at);
      const auto found = tree.firstHit(from, to);
      ASSERT_EQ(found.has_value(), first <= 1) << i;
      EXPECT_EQ(tree.blocks(from, to, {}), first <= 1);
      if (!found) continue;
      ++hits;
      ASSERT_NEAR(found->t, first, 1e-9);
      EXPECT_NEAR(found->barycentric.sum(), 1, 1e-12);
      EXPECT_GE(found->barycentric.minCoeff(), 0);
    }
    EXPECT_GE(hits, m.closed ? 20 : 0);
  }
}

TEST(TriangleTree, ASegmentThroughAnEdgeOrCornerOfAClosedSurfaceCannotSlipThrough) {
  const TriMesh m = shelf::sphere(16, 24, 1.0f);
  const TriangleTree tree(m.positions, m.triangles);
  for (const Triangle& t : m.triangles)
    for (int c = 0; c < 3; ++c) {
      const Vec3d a = m.positions[t[c]].cast<double>();
      const Vec3d b = m.positions[t[(c + 1) % 3]].cast<double>();
      for (const double u : {0.0, 0.25, 0.5}) {
        const Vec3d through = a + u * (b - a);
        EXPECT_TRUE(tree.firstHit(Vec3d(0.1 * through), Vec3d(2.0 * through)).has_value());
      }
    }
}

TEST(TriangleTree, SightLinesKeepToTheirRules) {
  TriMesh wall;
  wall.positions = {{-1, -1, 0}, {1, -1, 0}, {0, 2, 0}};
  wall.triangles = {{0, 1, 2}};
  const TriangleTree tree(wall.positions, wall.triangles);
  const Vec3d before(0, 0, -1), after(0, 0, 1), just_after(0, 0, 0.01);
  EXPECT_TRUE(tree.blocks(before, after, {}));
  EXPECT_FALSE(tree.blocks(before, Vec3d(0, 0, -0.5), {}));
  EXPECT_TRUE(tree.blocks(before, just_after, {}));
  EXPECT_FALSE(tree.blocks(before, just_after, {.clearance_m = 0.02}));
  EXPECT_FALSE(tree.blocks(before, just_after, {.t_end = 0.9}));
  EXPECT_FALSE(tree.blocks(before, after, {.ignore_vertex = 1}));
  EXPECT_FALSE(tree.blocks(Vec3d(-3, 0, 0), Vec3d(3, 0, 0), {})) << "in the plane";
}

TEST(WindingNumber, IsOneInsideAndZeroOutsideClosedMeshesOfAnyScale) {
  for (const shelf::ShelfMesh& m : shelf::closedOnes()) {
    if (m.name == "two pieces" || m.name == "unreferenced vertex") continue;  // centre is elsewhere
    SCOPED_TRACE(m.name);
    std::vector<Vec3d> positions;
    for (const Vec3f& p : m.mesh.positions) positions.push_back(p.cast<double>());
    const std::vector<Triangle>& t = m.mesh.triangles;
    const Vec3d centre = bounds(m.mesh.positions).centre().cast<double>();
    const double expected = m.name == "inside-out" ? -1 : 1;
    EXPECT_NEAR(windingNumber(positions, t, centre), expected, 1e-9);
    const Vec3d outside = centre + Vec3d(0, 2 * bounds(m.mesh.positions).diagonal(), 0);
    EXPECT_NEAR(windingNumber(positions, t, outside), 0, 1e-9);
  }
}

TEST(WindingNumber, ToleratesHolesAndCornersAtThePoint) {
  const TriMesh tube = shelf::tube(9, 12, 0.5f, 4.0f);
  std::vector<Vec3d> positions;
  for (const Vec3f& p : tube.positions) positions.push_back(p.cast<double>());
  EXPECT_GT(std::abs(windingNumber(positions, tube.triangles, Vec3d(0, 0, 2))), 0.9);
  EXPECT_LT(std::abs(windingNumber(positions, tube.triangles, Vec3d(0, 0, 5))), 0.2);
  EXPECT_TRUE(std::isfinite(windingNumber(positions, tube.triangles, positions[3])));
}

}  // namespace
}  // namespace derm::triangle_tree_test
