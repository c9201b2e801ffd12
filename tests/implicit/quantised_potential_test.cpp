#include "derm/implicit/quantised_potential.h"

#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "derm/implicit/active_skin.h"
#include "derm/implicit/build_potential.h"
#include "derm/implicit/shape_targets.h"

namespace derm::quantised_potential_test {
namespace {

TEST(QuantisedPotential, KeepsTheSurfaceInHalfTheMemory) {
  const Potential p = *buildPotential(TorusTarget(Vec3d(3, -2, 1), 0.6, 0.25), {.voxel_m = 0.02});
  const QuantisedPotential small = quantised(p);
  EXPECT_LE(double(small.memoryBytes()), 0.55 * double(p.grid.memoryBytes()));
  const Result<Potential> back = dequantised(small);
  ASSERT_TRUE(back.ok()) << back.error().text();
  const TriMesh a = polygonised(p), b = polygonised(*back);
  ASSERT_EQ(a.vertexCount(), b.vertexCount());
  for (std::size_t v = 0; v < a.vertexCount(); ++v)
    EXPECT_LT(std::abs(p.valueAt(b.positions[v].cast<double>())), 1e-4 * 0.02);
  EXPECT_EQ(p.grid.order().size(), back->grid.order().size());
}

TEST(QuantisedPotential, RefusesDataThatDoesNotFit) {
  QuantisedPotential odd =
      quantised(*buildPotential(SphereTarget(Vec3d::Zero(), 6), {.voxel_m = 1}));
  odd.values.pop_back();
  EXPECT_FALSE(dequantised(odd).ok());
}

/// [voxel] how far a ball of 14 voxels shrinks in 300 steps of beta dt = 1e-3.
double slowMotion(bool quantise, bool dither) {
  const SphereTarget ball(Vec3d(24.3, 24.2, 24.1), 14);
  Potential p = *buildPotential(ball, {.voxel_m = 1});
  const auto radius = [&] {
    double sum = 0;
    const TriMesh mesh = polygonised(p);
    for (const Vec3f& v : mesh.positions)
      sum += (v.cast<double>() - Vec3d(24.3, 24.2, 24.1)).norm();
    return sum / double(mesh.vertexCount());
  };
  const double start = radius();
  const EvolutionLaw desc{.attraction = 0, .tension = 1, .track_bodies = false};
  for (std::uint64_t i = 1; i <= 300; ++i) {
    ActiveSkin skin = *ActiveSkin::make(p, desc);
    skin.step(ball, 1e-3);
    p = quantise ? *dequantised(quantised(skin.potential(), dither ? i : 0)) : skin.potential();
  }
  return start - radius();
}

TEST(QuantisedPotential, DitheredSixteenBitsMoveAsFloatsDo) {
  const double exact = slowMotion(false, false), plain = slowMotion(true, false),
               dithered = slowMotion(true, true);
  std::printf("float %.4f voxel; 16 bits %.4f, dithered %.4f\n", exact, plain, dithered);
  EXPECT_NEAR(dithered / exact, 1, 0.02);
  EXPECT_GT(std::abs(plain / exact - 1), std::abs(dithered / exact - 1));
}

}  // namespace
}  // namespace derm::quantised_potential_test
