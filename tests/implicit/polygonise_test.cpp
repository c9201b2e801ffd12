#include "derm/implicit/polygonise.h"

#include <cmath>

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/implicit/build_potential.h"
#include "derm/implicit/shape_targets.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/measures.h"

#include "support/allocations.h"

namespace derm::polygonise_test {
namespace {

TriMesh meshOf(const Target& target, double voxel_m) {
  const Result<Potential> p = buildPotential(target, {.voxel_m = voxel_m});
  EXPECT_TRUE(p.ok());
  return p.ok() ? polygonised(*p) : TriMesh{};
}

TEST(Polygoniser, GivesABallItsVolumeAreaAndTopology) {
  const TriMesh mesh = meshOf(SphereTarget(Vec3d(0.013, 0.021, -0.4), 1.0), 0.05);
  EXPECT_TRUE(checkClosed(mesh.triangles).closed());
  const SurfaceMeasures m = measured(mesh);
  ASSERT_EQ(m.pieces.size(), 1u);
  EXPECT_EQ(m.euler_number, 2);
  EXPECT_NEAR(m.volume / (4.0 / 3 * M_PI), 0.9981, 0.0015);  // chords: a little less
  EXPECT_NEAR(m.area / (4 * M_PI), 0.999, 0.002);
  EXPECT_NEAR(m.volume, volume(mesh.positions, mesh.triangles), 1e-5);
  EXPECT_NEAR(m.area, area(mesh.positions, mesh.triangles), 1e-5);
  for (std::size_t v = 0; v < mesh.vertexCount(); ++v) {
    const Vec3d out = mesh.positions[v].cast<double>() - Vec3d(0.013, 0.021, -0.4);
    EXPECT_NEAR(out.norm(), 1.0, 0.05 * 0.03);
    EXPECT_GT(mesh.normals[v].cast<double>().dot(out.normalized()), 0.995);
  }
}

TEST(Polygoniser, CountsHandlesAndPieces) {
  const SurfaceMeasures ring = measured(meshOf(TorusTarget(Vec3d::Zero(), 0.6, 0.2), 0.05));
  EXPECT_EQ(ring.euler_number, 0);
  EXPECT_NEAR(ring.volume / (2 * M_PI * M_PI * 0.6 * 0.04), 1, 0.02);
  const SurfaceMeasures letter = measured(meshOf(LetterDTarget(Vec3d::Zero()), 0.02));
  EXPECT_EQ(letter.euler_number, 0);
  EXPECT_EQ(letter.pieces.size(), 1u);
  const SurfaceMeasures screw = measured(meshOf(ScrewTarget({}), 0.05));
  EXPECT_EQ(screw.euler_number, 2);
  EXPECT_EQ(screw.pieces.size(), 1u);
}

/// Random signs at every node: all 256 cases and all ambiguous faces next to each other.
Potential randomSigns(std::uint64_t seed) {
  Potential p;
  std::vector<BlockCoord> coords;
  for (int n = 0; n < 27; ++n) coords.push_back({n % 3, n / 3 % 3, n / 9});
  p.grid.createBlocks(coords);
  Rng rng(seed);
  for (const std::uint32_t slot : p.grid.order()) {
    const BlockCoord& b = p.grid.coord(slot);
    for (int i = 0; i < 512; ++i) {
      const int x = 8 * b.x + (i & 7), y = 8 * b.y + (i >> 3 & 7), z = 8 * b.z + (i >> 6);
      const bool rim = std::min({x, y, z}) < 4 || std::max({x, y, z}) > 19;
      p.grid.values(slot)[i] = rim ? -2.0f : static_cast<float>(rng.uniform(-1, 1));
    }
    p.grid.updateWords(slot);
  }
  return p;
}

TEST(Polygoniser, StaysClosedAndManifoldForAnySigns) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const TriMesh mesh = polygonised(randomSigns(seed));
    const Closedness c = checkClosed(mesh.triangles);
    EXPECT_EQ(c.boundary_edges, 0u);
    EXPECT_EQ(c.repeated_edges, 0u);
    EXPECT_EQ(c.degenerate_triangles, 0u);
    EXPECT_GT(mesh.triangles.size(), 4000u);
    EXPECT_GT(volume(mesh.positions, mesh.triangles), 0);
    for (const Vec3f& n : mesh.normals) EXPECT_NEAR(n.norm(), 1, 1e-5);
  }
}

TEST(Polygoniser, ReusesItsBuffers) {
  const Result<Potential> p = buildPotential(SphereTarget(Vec3d::Zero(), 0.5), {.voxel_m = 0.05});
  ASSERT_TRUE(p.ok());
  Polygoniser polygoniser;
  TriMesh mesh;
  for (int i = 0; i < 3; ++i) polygoniser.run(*p, mesh);
  const std::size_t before = testing_support::allocationCount();
  polygoniser.run(*p, mesh);
  EXPECT_EQ(testing_support::allocationCount(), before);
}

TEST(Polygoniser, GivesNothingForNothing) {
  const TriMesh mesh = polygonised(Potential{});
  EXPECT_TRUE(mesh.positions.empty());
  EXPECT_TRUE(mesh.triangles.empty());
  EXPECT_TRUE(measured(mesh).pieces.empty());
}

}  // namespace
}  // namespace derm::polygonise_test
