#include "derm/mesh/measures.h"

#include <numbers>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/weld.h"

#include "support/shelf.h"

namespace derm::measures_test {
namespace {

TEST(Measures, CubeHasItsVolumeAreaAndBox) {
  const TriMesh cube = shelf::cube(2.0f);
  EXPECT_NEAR(volume(cube.positions, cube.triangles), 8.0, 1e-12);
  EXPECT_NEAR(area(cube.positions, cube.triangles), 24.0, 1e-12);
  EXPECT_EQ(bounds(cube.positions).size(), Vec3f(2, 2, 2));
  EXPECT_NEAR(meanEdgeLength(cube.positions, cube.triangles), (2 * 2.0 + std::sqrt(8.0)) / 3, 1e-6);
}

TEST(Measures, VolumeIsTheSameFarFromTheOrigin) {
  const TriMesh near = shelf::sphere(16, 24, 0.5f);
  std::vector<Vec3d> far;
  for (const Vec3f& p : near.positions) far.push_back(p.cast<double>() + Vec3d(1e4, -2e4, 3e4));
  const double expected = volume(near.positions, near.triangles);
  EXPECT_NEAR(volume(far, near.triangles) / expected, 1.0, 1e-10);
}

TEST(Measures, InsideOutVolumeIsNegative) {
  for (const shelf::ShelfMesh& m : shelf::closedOnes()) {
    SCOPED_TRACE(m.name);
    const double v = volume(m.mesh.positions, m.mesh.triangles);
    if (m.name == "inside-out")
      EXPECT_LT(v, 0);
    else
      EXPECT_GT(v, 0);
  }
}

TEST(Measures, EmptyMeshMeasuresZeroNotNaN) {
  EXPECT_EQ(volume(std::span<const Vec3f>(), {}), 0.0);
  EXPECT_EQ(area(std::span<const Vec3f>(), {}), 0.0);
  EXPECT_TRUE(bounds({}).empty());
  EXPECT_EQ(bounds({}).diagonal(), 0.0);
}

TEST(Measures, SameBitsForEveryThreadCount) {
  const TriMesh m = shelf::sphere(200, 300, 1.0f);
  std::vector<double> volumes;
  for (const int threads : {1, 2, 8}) {
    const ThreadLimit limit(threads);
    volumes.push_back(volume(m.positions, m.triangles));
  }
  EXPECT_EQ(volumes[0], volumes[1]);
  EXPECT_EQ(volumes[0], volumes[2]);
  EXPECT_NEAR(volumes[0], 4 * std::numbers::pi / 3, 2e-3);
}

}  // namespace
}  // namespace derm::measures_test
