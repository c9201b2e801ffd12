#include "derm/implicit/particle_system.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "derm/implicit/polygonise.h"
#include "derm/implicit/surface_particles.h"
#include "derm/mesh/closedness.h"

namespace derm::particle_system_test {
namespace {

TEST(ParticleSystem, ADropFallsFreelyThenComesToRestOnTheGround) {
  const Particles ball = particleBall(Vec3d(0, 0.6, 0), 0.12, 0.02);
  ParticleSystem system = *ParticleSystem::make(ball, {.radius_m = 0.02});
  system.advance(0.2);
  double sum = 0;
  for (const Vec3f& v : system.particles().velocities) sum += double{v.y()};
  EXPECT_NEAR(sum / double(ball.size()), -9.81 * 0.2, 0.1);
  system.advance(3);
  double speed = 0, low = 1, high = 0;
  for (std::size_t i = 0; i < ball.size(); ++i) {
    speed += double{system.particles().velocities[i].norm()};
    low = std::min(low, double{system.particles().positions[i].y()});
    high = std::max(high, double{system.particles().positions[i].y()});
    ASSERT_TRUE(system.particles().positions[i].allFinite());
  }
  EXPECT_LT(speed / double(ball.size()), 0.08);
  EXPECT_NEAR(low, 0.02, 1e-3);
  EXPECT_LT(high, 0.25);
}

TEST(ParticleSystem, EmittersGiveMatterWhileTheyRun) {
  ParticleSystemDesc desc{.radius_m = 0.02};
  desc.emitters.push_back({.position = Vec3d(0, 1, 0), .to_s = 0.5});
  ParticleSystem system = *ParticleSystem::make({}, desc);
  system.advance(0.25);
  const std::size_t half = system.particles().size();
  system.advance(0.5);
  const std::size_t all = system.particles().size();
  EXPECT_GT(half, 20u);
  EXPECT_NEAR(double(all) / double(half), 2, 0.3);
  system.advance(0.3);
  EXPECT_EQ(system.particles().size(), all);
  EXPECT_TRUE(validate(system.particles(), "pour").ok());
}

TEST(ParticleSystem, ThinMatterIsMadeFinerAndKeepsItsMass) {
  ParticleSystemDesc desc{.radius_m = 0.02, .ground_y_m = {}};
  desc.max_splits = 1;
  Particles thread;
  for (int i = 0; i < 12; ++i) thread.positions.emplace_back(0.05f * float(i), 0.0f, 0.0f);
  ParticleSystem system = *ParticleSystem::make(thread, desc);
  system.advance(0.02);
  EXPECT_GT(system.particles().size(), 40u);
  double mass = 0;
  for (const float m : system.particles().masses) mass += double{m};
  EXPECT_NEAR(mass, 12, 1e-3);
}

TEST(ParticleSystem, RefusesNumbersOutOfRange) {
  EXPECT_FALSE(ParticleSystem::make({}, {.radius_m = 0}).ok());
  EXPECT_FALSE(ParticleSystem::make({}, {.step_s = -1}).ok());
  EXPECT_FALSE(ParticleSystem::make({}, {.friction = 2}).ok());
}

/// A skin around a drop that meets the ground: closed in every frame, volume held, and with
/// feedback no particle stays outside.
TEST(SurfaceParticles, ASkinFollowsAFallingDropAndHoldsItsVolume) {
  ParticleSystem system = *ParticleSystem::make(
      particleBall(Vec3d(0, 0.5, 0), 0.14, 0.02, Vec3d(0, -1, 0)), {.radius_m = 0.02});
  ParticleSurfacingDesc desc;
  desc.law = {.attraction = 60, .tension = 0.15 * 30 * 0.0004, .volume = Hold::Exact};
  desc.lattice.voxel_m = 0.02;
  Result<ParticleSurfacer> surfacer = ParticleSurfacer::make(system.particles(), desc);
  ASSERT_TRUE(surfacer.ok()) << surfacer.error().text();
  TriMesh mesh;
  double worst = 0;
  for (int f = 0; f < 24; ++f) {
    system.advance(1.0 / 30);
    const Result<SkinStep> step = surfacer->advanceTo(system.particles(), 1.0 / 30);
    ASSERT_TRUE(step.ok()) << step.error().text();
    system.feelSkin(surfacer->skin().potential());
    surfacer->skin().polygonise(mesh);
    EXPECT_TRUE(checkClosed(mesh.triangles).closed());
    double wanted = 0;
    for (const Body& b : surfacer->skin().bodies()) wanted += b.wanted_volume;
    worst = std::max(worst, std::abs(measured(mesh).volume / wanted - 1));
    std::size_t outside = 0;
    for (const Vec3f& p : system.particles().positions)
      outside += !surfacer->skin().potential().contactAt(p.cast<double>()).inside;
    EXPECT_LE(outside, system.particles().size() / 50) << f;
  }
  std::printf("falling drop: volume off by %.1e at worst\n", worst);
  EXPECT_LE(worst, 1e-3);
}

TEST(ParticleSystem, ADropThatHitsTheGroundThrowsNothingUpAgain) {
  for (const double radius : {0.02, 0.014}) {
    ParticleSystem system =
        *ParticleSystem::make(particleBall(Vec3d(0, 0.7, 0), 0.2, radius), {.radius_m = radius});
    system.advance(0.6);
    for (int f = 0; f < 10; ++f) {
      system.advance(0.05);
      for (const Vec3f& p : system.particles().positions) {
        EXPECT_LT(p.y(), 0.3f);
        EXPECT_LT(std::hypot(p.x(), p.z()), 0.7f);
      }
    }
  }
}

TEST(SurfaceParticles, MatterThatIsPouredCountsFully) {
  ParticleSystemDesc pour{.radius_m = 0.02};
  pour.emitters.push_back({.position = Vec3d(0, 0.6, 0), .velocity = Vec3d(0, -1, 0), .to_s = 0.4});
  Particles first;
  for (const float x : {-0.02f, 0.02f}) first.positions.emplace_back(x, 0.6f, 0.0f);
  ParticleSystem system = *ParticleSystem::make(first, pour);
  ParticleSurfacingDesc desc;
  desc.law = {.attraction = 60, .tension = 0.002, .volume = Hold::Exact};
  desc.lattice.voxel_m = 0.015;
  ParticleSurfacer surfacer = *ParticleSurfacer::make(system.particles(), desc);
  TriMesh mesh;
  double worst = 0;
  std::size_t births = 0;
  for (int f = 0; f < 24; ++f) {
    const std::size_t before = system.particles().size();
    system.advance(1.0 / 30);
    births += system.particles().size() > before;
    ASSERT_TRUE(surfacer.advanceTo(system.particles(), 1.0 / 30).ok());
    surfacer.skin().polygonise(mesh);
    const double matter = 8 * 0.02 * 0.02 * 0.02 * double(system.particles().size());
    worst = std::max(worst, std::abs(measured(mesh).volume / matter - 1));
  }
  std::printf("poured: %zu particles, births in %zu of 24 frames, volume off by %.1e at worst\n",
              system.particles().size(), births, worst);
  EXPECT_GT(system.particles().size(), 100u);
  EXPECT_GE(births, 8u);
  EXPECT_LE(worst, 1e-3);
}

/// Volume of the bare field over that of its particles.
double volumeOverMatter(const Particles& particles) {
  const ParticleTarget target = *ParticleTarget::make(particles, {.radius_m = 1});
  const Potential potential = *buildPotential(target, {.voxel_m = 0.3});
  return measured(polygonised(potential)).volume / (8 * double(particles.size()));
}

TEST(SurfaceParticles, SheetsAndDropsAreAsThickAsTheirMatter) {
  const auto lattice = [](int nx, int ny, int nz, float spacing) {
    Particles p;
    for (int i = 0; i < nx * ny * nz; ++i)
      p.positions.emplace_back(spacing * float(i % nx), spacing * float(i / nx % ny),
                               spacing * float(i / (nx * ny)));
    return p;
  };
  EXPECT_NEAR(volumeOverMatter(lattice(1, 1, 1, 2)), 1, 0.06);
  EXPECT_NEAR(volumeOverMatter(lattice(16, 16, 1, 2)), 1, 0.12);
  EXPECT_NEAR(volumeOverMatter(lattice(12, 12, 2, 2)), 1, 0.1);
  EXPECT_NEAR(volumeOverMatter(lattice(8, 8, 8, 2)), 1, 0.05);
  EXPECT_NEAR(volumeOverMatter(lattice(16, 1, 1, 2)), 1, 0.06);
  // Stretched, it is too thick, but whole.
  const Particles stretched = lattice(12, 12, 1, 3);
  EXPECT_EQ(measured(polygonised(*buildPotential(*ParticleTarget::make(stretched, {.radius_m = 1}),
                                                 {.voxel_m = 0.6})))
                .euler_number,
            2);
}

}  // namespace
}  // namespace derm::particle_system_test
