#include <cmath>

#include <gtest/gtest.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/implicit/active_skin.h"
#include "derm/implicit/build_potential.h"
#include "derm/implicit/particle_system.h"
#include "derm/implicit/shape_targets.h"
#include "derm/implicit/surface_particles.h"

namespace derm::skin_det_test {
namespace {

std::uint64_t meshHash(const TriMesh& mesh) {
  Hash64 hash;
  hash.addSpan(std::span<const Vec3f>(mesh.positions));
  hash.addSpan(std::span<const Vec3f>(mesh.normals));
  hash.addSpan(std::span<const Triangle>(mesh.triangles));
  return hash.value();
}

TEST(SkinDet, AMorphHasTheSameBitsWhateverTheThreadCount) {
  std::vector<std::uint64_t> hashes;
  for (const int threads : {1, 2, 8}) {
    const ThreadLimit limit(threads);
    const BlobTarget start = sixBlobs(), target = twoBlobs();
    EvolutionLaw desc{.attraction = 3, .tension = 0.004, .volume = Hold::Exact};
    ActiveSkin skin = *ActiveSkin::make(*buildPotential(start, {.voxel_m = 0.02}), desc);
    for (int i = 0; i < 60; ++i) skin.step(target, 1e9);
    TriMesh mesh;
    skin.polygonise(mesh);
    hashes.push_back(skin.stateHash() ^ meshHash(mesh));
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

TEST(SkinDet, AWobblingDropHasTheSameBitsWhateverTheThreadCount) {
  std::vector<std::uint64_t> hashes;
  for (const int threads : {1, 8}) {
    const ThreadLimit limit(threads);
    EvolutionLaw desc{.volume = Hold::Exact};
    desc.inertia = {.on = true, .tension = 1, .stiffness = 0.1, .damping = 0.1};
    const SegmentTarget start(Vec3d(-6, 0, 0), Vec3d(6, 0, 0), 10);
    ActiveSkin skin = *ActiveSkin::make(*buildPotential(start, {.voxel_m = 1}), desc);
    for (int i = 0; i < 60; ++i) skin.step(SphereTarget(Vec3d::Zero(), 12), 1e9);
    hashes.push_back(skin.stateHash());
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(SkinDet, AFallingDropAndItsSkinHaveTheSameBitsWhateverTheThreadCount) {
  std::vector<std::uint64_t> hashes;
  for (const int threads : {1, 8}) {
    const ThreadLimit limit(threads);
    ParticleSystem system = *ParticleSystem::make(
        particleBall(Vec3d(0, 0.4, 0), 0.12, 0.02, Vec3d(0, -2, 0)), {.radius_m = 0.02});
    ParticleSurfacingDesc desc;
    desc.law = {.attraction = 60, .tension = 0.002, .volume = Hold::Exact};
    desc.lattice.voxel_m = 0.02;
    ParticleSurfacer surfacer = *ParticleSurfacer::make(system.particles(), desc);
    for (int f = 0; f < 5; ++f) {
      system.advance(1.0 / 30);
      ASSERT_TRUE(surfacer.advanceTo(system.particles(), 1.0 / 30).ok());
    }
    hashes.push_back(surfacer.skin().stateHash());
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

}  // namespace
}  // namespace derm::skin_det_test
