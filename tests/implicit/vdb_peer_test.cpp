// Our .vdb files as OpenVDB sees them, and OpenVDB's as we do: the same surface within 0.02 voxel.

#include <cmath>
#include <cstdio>
#include <filesystem>

#include <gtest/gtest.h>
#include <openvdb/openvdb.h>
#include <openvdb/tools/Diagnostics.h>
#include <openvdb/tools/Interpolation.h>
#include <openvdb/tools/LevelSetSphere.h>
#include <openvdb/tools/LevelSetUtil.h>
#include <unistd.h>

#include "derm/implicit/build_potential.h"
#include "derm/implicit/level_set_exchange.h"
#include "derm/implicit/polygonise.h"
#include "derm/implicit/shape_targets.h"
#include "derm/io/vdb.h"

namespace derm::vdb_peer_test {
namespace {

constexpr double kVoxel = 0.02;
constexpr double kMaxVoxels = 0.02;

std::filesystem::path scratchFile(const char* name) {
  return std::filesystem::temp_directory_path() /
         ("derm-" + std::to_string(::getpid()) + "-" + name + ".vdb");
}

/// [voxel] how far, at most, OpenVDB sees our vertices from its own surface.
double maxMisfit(const openvdb::FloatGrid& grid, const TriMesh& mesh) {
  const openvdb::tools::GridSampler<openvdb::FloatGrid, openvdb::tools::BoxSampler> at(grid);
  double max = 0;
  for (const Vec3f& p : mesh.positions)
    max = std::max(max, std::abs(double{at.wsSample(openvdb::Vec3d(p.x(), p.y(), p.z()))}));
  return max / grid.voxelSize().x();
}

TEST(VdbPeer, WhatWeWriteIsTheSameSurfaceInOpenVdb) {
  openvdb::initialize();
  const std::filesystem::path file = scratchFile("ours");
  const Potential p = *buildPotential(TorusTarget(Vec3d(3, -2, 1), 0.6, 0.25),
                                      {.voxel_m = kVoxel, .origin = Vec3d(0.01, 0, 0)});
  ASSERT_TRUE(saveVdb(file, levelSetOf(p)).ok());
  openvdb::io::File input(file.string());
  input.open();
  const auto grid = openvdb::gridPtrCast<openvdb::FloatGrid>(input.readGrid("surface"));
  input.close();
  std::filesystem::remove(file);
  ASSERT_TRUE(grid);
  const TriMesh mesh = polygonised(p);
  const double misfit = maxMisfit(*grid, mesh);
  std::printf("ours in OpenVDB: %.5f voxel at most\n", misfit);
  EXPECT_LT(misfit, kMaxVoxels);
  // Its own checks of a narrow band: class, transform, background, signs, slope.
  EXPECT_EQ(openvdb::tools::checkLevelSet(*grid), "");
  // Deep inside and far outside, where there are no voxels, the sign is right.
  const openvdb::tools::GridSampler<openvdb::FloatGrid, openvdb::tools::BoxSampler> at(*grid);
  EXPECT_LT(at.wsSample(openvdb::Vec3d(3.6, -2, 1)), 0);
  EXPECT_GT(at.wsSample(openvdb::Vec3d(3, -2, 1)), 0);
}

TEST(VdbPeer, WhatOpenVdbWritesIsTheSameSurfaceHere) {
  openvdb::initialize();
  const std::filesystem::path file = scratchFile("theirs");
  const auto grid = openvdb::tools::createLevelSetSphere<openvdb::FloatGrid>(
      0.7f, openvdb::Vec3f(0.3f, -0.2f, 0.1f), kVoxel);
  openvdb::io::File(file.string()).write({grid});
  const Result<LevelSetBlocks> blocks = loadVdb(file);
  std::filesystem::remove(file);
  ASSERT_TRUE(blocks.ok()) << blocks.error().text();
  const Result<Potential> p = potentialOf(*blocks);
  ASSERT_TRUE(p.ok()) << p.error().text();
  const TriMesh mesh = polygonised(*p);
  const SurfaceMeasures m = measured(mesh);
  EXPECT_EQ(m.euler_number, 2);
  EXPECT_NEAR(m.volume / (4.0 / 3 * M_PI * 0.343), 1, 2e-3);
  EXPECT_LT(maxMisfit(*grid, mesh), kMaxVoxels);
  double max = 0;
  for (const Vec3f& v : mesh.positions)
    max = std::max(max, std::abs((v.cast<double>() - Vec3d(0.3, -0.2, 0.1)).norm() - 0.7));
  std::printf("OpenVDB's here: %.5f voxel from the ball\n", max / kVoxel);
  EXPECT_LT(max / kVoxel, kMaxVoxels);
  EXPECT_TRUE(p->contactAt(Vec3d(0.3, -0.2, 0.1)).inside);
}

TEST(VdbPeer, ADensityIsInsideWhereItIsDenseEnough) {
  openvdb::initialize();
  const std::filesystem::path file = scratchFile("density");
  const auto grid = openvdb::tools::createLevelSetSphere<openvdb::FloatGrid>(
      0.7f, openvdb::Vec3f(0.3f, -0.2f, 0.1f), kVoxel);
  openvdb::tools::sdfToFogVolume(*grid);  // 1 inside, falling to 0 over the band's inner half
  openvdb::io::File(file.string()).write({grid});
  const Result<LevelSetBlocks> refused = loadVdb(file);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("no level set"), std::string::npos);
  const Result<LevelSetBlocks> nowhere = loadVdb(file, 7.0);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_NE(nowhere.error().text().find("nowhere"), std::string::npos) << nowhere.error().text();
  for (const double iso : {0.3, 0.5}) {
    const Result<LevelSetBlocks> blocks = loadVdb(file, iso);
    ASSERT_TRUE(blocks.ok()) << blocks.error().text();
    const Result<Potential> p = potentialOf(*blocks);
    ASSERT_TRUE(p.ok()) << p.error().text();
    const TriMesh mesh = polygonised(*p);
    EXPECT_EQ(measured(mesh).euler_number, 2);
    // The fog rises from 0 at the surface to 1 at three voxels below it.
    const double wanted = 0.7 - 3 * iso * kVoxel;
    for (const Vec3f& v : mesh.positions)
      EXPECT_NEAR((v.cast<double>() - Vec3d(0.3, -0.2, 0.1)).norm(), wanted, 0.1 * kVoxel);
    EXPECT_TRUE(p->contactAt(Vec3d(0.3, -0.2, 0.1)).inside);
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace derm::vdb_peer_test
