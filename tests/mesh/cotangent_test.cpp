#include "derm/mesh/cotangent.h"

#include <cmath>

#include <gtest/gtest.h>

#include "derm/mesh/adjacency.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/weld.h"

#include "support/compare.h"
#include "support/shelf.h"

namespace derm::cotangent_test {
namespace {

using testing_support::inDouble;

TEST(Cotangent, GivesTheTextbookWeightsOfARightTriangle) {
  const std::vector<Vec3d> p = {{0, 0, 0}, {3, 0, 0}, {0, 3, 0}};
  const std::vector<Triangle> t = {{0, 1, 2}};
  const CotangentWeights w = cotangentWeights(p, t);
  ASSERT_EQ(w.edges.size(), 3u);
  EXPECT_NEAR(w.edges[0].weight, 0.5, 1e-12);  // across 45 degrees
  EXPECT_NEAR(w.edges[1].weight, 0.5, 1e-12);
  EXPECT_EQ(w.edges[2].weight, CotangentWeights::kMinCotangent);  // across 90 degrees: cot = 0
  for (const double a : w.areas) EXPECT_NEAR(a, 1.5, 1e-12);
}

TEST(Cotangent, EverythingIsFiniteAndPositiveOnTheShelf) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    const auto triangles = mapped(m.mesh.triangles, weldMap(m.mesh.positions));
    const CotangentWeights w = cotangentWeights(inDouble(m.mesh.positions), triangles);
    double sum = 0;
    for (const auto& e : w.edges) {
      ASSERT_LT(e.a, e.b);
      ASSERT_TRUE(std::isfinite(e.weight));
      ASSERT_GE(e.weight, CotangentWeights::kMinCotangent);
    }
    for (const double a : w.areas) sum += a;
    const double exact = area(m.mesh.positions, m.mesh.triangles);
    EXPECT_NEAR(sum, exact, 1e-9 * exact);
  }
}

TEST(Cotangent, TrianglesWithoutAreaGiveFiniteWeights) {
  const std::vector<Vec3d> line = {{0, 0, 0}, {1, 0, 0}, {0.3, 0, 0}, {0, 1, 0}};
  const std::vector<Triangle> triangles = {{0, 1, 2}, {0, 2, 3}, {2, 1, 3}};
  for (const auto& e : cotangentWeights(line, triangles).edges) {
    EXPECT_TRUE(std::isfinite(e.weight));
    EXPECT_GT(e.weight, 0);
  }
  const std::vector<Vec3d> point(3, Vec3d(1, 2, 3));
  const std::vector<Triangle> collapsed = {{0, 1, 2}};
  const CotangentWeights w = cotangentWeights(point, collapsed);
  ASSERT_EQ(w.edges.size(), 3u);
  for (const auto& e : w.edges) EXPECT_TRUE(std::isfinite(e.weight));
}

TEST(Cotangent, LinearFunctionsAreHarmonicInsideADelaunayPlane) {
  // A sheared, but still Delaunay, grid.
  const int n = 7;
  std::vector<Vec3d> p;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) p.emplace_back(x + 0.3 * y, 0.9 * y, 0);
  std::vector<Triangle> triangles;
  for (std::uint32_t y = 0; y + 1 < n; ++y)
    for (std::uint32_t x = 0; x + 1 < n; ++x) {
      const std::uint32_t a = y * n + x;
      triangles.push_back({a, a + 1, a + n});
      triangles.push_back({a + 1, a + n + 1, a + n});
    }
  std::vector<double> laplacian(p.size(), 0);
  const auto f = [&](std::uint32_t v) { return 2 * p[v].x() - 5 * p[v].y() + 1; };
  for (const auto& e : cotangentWeights(p, triangles).edges) {
    laplacian[e.a] += e.weight * (f(e.a) - f(e.b));
    laplacian[e.b] += e.weight * (f(e.b) - f(e.a));
  }
  for (int y = 1; y + 1 < n; ++y)
    for (int x = 1; x + 1 < n; ++x) EXPECT_NEAR(laplacian[y * n + x], 0, 1e-12);
}

TEST(Cotangent, DoesNotDependOnScale) {
  const TriMesh m = shelf::sphere(8, 12, 1.0f);
  std::vector<Vec3d> large = inDouble(m.positions);
  for (Vec3d& p : large) p *= 1e6;
  const CotangentWeights a = cotangentWeights(inDouble(m.positions), m.triangles);
  const CotangentWeights b = cotangentWeights(large, m.triangles);
  for (std::size_t i = 0; i < a.edges.size(); ++i)
    EXPECT_NEAR(a.edges[i].weight, b.edges[i].weight, 1e-9 * a.edges[i].weight);
}

}  // namespace
}  // namespace derm::cotangent_test
