#include "derm/mesh/geodesic.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/weld.h"

#include "support/compare.h"
#include "support/shelf.h"

namespace derm::geodesic_test {
namespace {

using testing_support::inDouble;

std::vector<double> from(const TriMesh& m, std::vector<GeodesicSeed> seeds) {
  return GeodesicSurface(inDouble(m.positions), m.triangles, weldMap(m.positions)).distances(seeds);
}

/// Largest error relative to the largest true distance.
double worstError(const std::vector<double>& found, const std::vector<double>& exact) {
  const double scale = *std::max_element(exact.begin(), exact.end());
  double worst = 0;
  for (std::size_t v = 0; v < found.size(); ++v)
    worst = std::max(worst, std::abs(found[v] - exact[v]) / scale);
  return worst;
}

TEST(Geodesic, MatchesGreatCirclesOnASphereWithinOneAndAHalfPercent) {
  const TriMesh m = shelf::sphere(32, 48, 2.0f);
  for (const std::uint32_t start : {0u, 5u, 500u, 777u}) {
    SCOPED_TRACE(start);
    std::vector<double> exact;
    for (const Vec3f& p : m.positions) {
      const Vec3d a = m.positions[start].cast<double>(), b = p.cast<double>();
      exact.push_back(2 * std::atan2(a.cross(b).norm(), a.dot(b)));
    }
    const double worst = worstError(from(m, {{start, 0}}), exact);
    EXPECT_LT(worst, 0.015);  // worst around the far pole, where all fronts meet
  }
}

TEST(Geodesic, MatchesTheUnrolledTube) {
  const int rings = 41, sectors = 48;
  const TriMesh m = shelf::tube(rings, sectors, 0.5f, 4.0f);
  for (const std::uint32_t start : {0u, 20u * sectors + 7u}) {
    std::vector<double> exact;
    for (int v = 0; v < rings * sectors; ++v) {
      int around = std::abs(v % sectors - int(start) % sectors);
      around = std::min(around, sectors - around);
      // The tube is a prism: its sides are chords.
      const double x = around * 2 * 0.5 * std::sin(std::numbers::pi / sectors);
      exact.push_back(std::hypot(x, m.positions[v].z() - m.positions[start].z()));
    }
    const double worst = worstError(from(m, {{start, 0}}), exact);
    EXPECT_LT(worst, 1e-6);
  }
}

TEST(Geodesic, AStraightFrontStaysExact) {
  const int sectors = 12;
  const TriMesh m = shelf::tube(9, sectors, 0.5f, 4.0f);
  std::vector<GeodesicSeed> ring;
  for (std::uint32_t s = 0; s < sectors; ++s) ring.push_back({s, 0.25});
  const std::vector<double> d = from(m, ring);
  for (std::size_t v = 0; v < d.size(); ++v) EXPECT_NEAR(d[v], 0.25 + m.positions[v].z(), 1e-6);
}

TEST(Geodesic, IrregularPlanesAreWithinTwoPercent) {
  // A jittered grid with many obtuse triangles.
  const int n = 31;
  Rng rng(42);
  TriMesh m;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x)
      m.positions.emplace_back(float(2 * (x + rng.uniform(-0.35, 0.35))),
                               float(y + rng.uniform(-0.35, 0.35)), 0.0f);
  for (std::uint32_t y = 0; y + 1 < n; ++y)
    for (std::uint32_t x = 0; x + 1 < n; ++x) {
      const std::uint32_t a = y * n + x;
      m.triangles.push_back({a, a + 1, a + n});
      m.triangles.push_back({a + 1, a + n + 1, a + n});
    }
  const std::uint32_t start = 15 * n + 15;
  std::vector<double> exact;
  for (const Vec3f& p : m.positions) exact.push_back((p - m.positions[start]).norm());
  const double worst = worstError(from(m, {{start, 0}}), exact);
  EXPECT_LT(worst, 0.02);
}

TEST(Geodesic, ShelfMeshesGiveLengthsBetweenTheStraightLineAndTheEdges) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    if (m.mesh.positions.empty()) continue;
    SCOPED_TRACE(m.name);
    const std::vector<double> d = from(m.mesh, {{0, 0}});
    const double scale = bounds(m.mesh.positions).diagonal();
    for (std::size_t v = 0; v < d.size(); ++v) {
      ASSERT_FALSE(std::isnan(d[v]));
      // Chords of a coarse sphere are longer than what a front takes from its corners: allow 2 %.
      EXPECT_GE(d[v], 0.98 * (m.mesh.positions[v] - m.mesh.positions[0]).norm() - 1e-6 * scale);
      const bool all_connected = m.name != "two pieces" && m.name != "unreferenced vertex";
      EXPECT_FALSE(all_connected && std::isinf(d[v]));
    }
  }
}

TEST(Geodesic, CrossesSeamsOnlyWhenWelded) {
  const TriMesh m = shelf::cubeWithSplitFaces();
  const std::vector<double> open =
      GeodesicSurface(inDouble(m.positions), m.triangles).distances(std::vector<GeodesicSeed>{{0}});
  EXPECT_EQ(std::count_if(open.begin(), open.end(), [](double d) { return std::isinf(d); }), 20);
  const std::vector<double> welded = from(m, {{0, 0}});
  EXPECT_TRUE(std::all_of(welded.begin(), welded.end(), [](double d) { return std::isfinite(d); }));
  // The far corner of a unit cube: the straight line over two unfolded faces.
  EXPECT_NEAR(*std::max_element(welded.begin(), welded.end()), std::sqrt(5.0), 1e-6);
}

TEST(Geodesic, PassesNonManifoldEdgesAndCollapsedTriangles) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    if (m.name != "non-manifold edge" && m.name != "zero-area faces") continue;
    for (const double d : from(m.mesh, {{0, 0}})) EXPECT_TRUE(std::isfinite(d));
  }
}

TEST(Geodesic, SeedsKeepTheirValuesUnlessUndercut) {
  const TriMesh m = shelf::tube(9, 12, 0.5f, 4.0f);
  const std::vector<double> d = from(m, {{0, 1.0}, {1, 5.0}, {96, 0.5}});
  EXPECT_DOUBLE_EQ(d[0], 1.0);
  EXPECT_LT(d[1], 1.5);
  EXPECT_DOUBLE_EQ(d[96], 0.5);
  for (const double x : from(m, {})) EXPECT_TRUE(std::isinf(x));
}

}  // namespace
}  // namespace derm::geodesic_test
