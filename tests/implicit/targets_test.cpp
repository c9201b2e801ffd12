#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/implicit/build_potential.h"
#include "derm/implicit/level_set_exchange.h"
#include "derm/implicit/particle_target.h"
#include "derm/implicit/polygonise.h"
#include "derm/implicit/potential_target.h"
#include "derm/implicit/shape_targets.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/winding_number.h"

namespace derm::targets_test {
namespace {

Particles cubeOfParticles(int side, float spacing) {
  Particles p;
  for (int z = 0; z < side; ++z)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) p.positions.push_back(spacing * Vec3f(x, y, z));
  return p;
}

TEST(ParticleTarget, IsAboutOneInsideAndZeroOutside) {
  const Particles p = cubeOfParticles(12, 0.1f);
  const Result<ParticleTarget> t = ParticleTarget::make(p, {.radius_m = 0.05});
  ASSERT_TRUE(t.ok()) << t.error().text();
  EXPECT_NEAR(sampledAt(*t, Vec3d(0.55, 0.55, 0.55)), 1, 0.02);
  EXPECT_EQ(sampledAt(*t, Vec3d(-0.3, 0.5, 0.5)), 0);
  EXPECT_EQ(sampledAt(*t, Vec3d(1e30, 0, 0)), 0);
  // The surface lies about half a spacing outside the outermost layer, with the slope promised.
  const double at = sampledAt(*t, Vec3d(-0.05, 0.55, 0.55));
  EXPECT_NEAR(at, 0.5, 0.15);
  EXPECT_NEAR(sampledGradient(*t, Vec3d(-0.05, 0.55, 0.55), 0.005).norm() / t->slope(), 1, 0.25);
}

TEST(ParticleTarget, GathersWhatThePlainSumGivesAlsoStretchedAndOfMixedSizes) {
  Rng rng(5);
  Particles p;
  for (int i = 0; i < 900; ++i) {
    p.positions.emplace_back(float(rng.uniform(-1, 1)), float(rng.uniform(-0.3, 0.3)),
                             float(rng.uniform(20, 22)));
    p.radii.push_back(float(rng.uniform(0.03, 0.08)));
    p.masses.push_back(float(rng.uniform(0.5, 2)));
  }
  for (const bool stretched : {false, true}) {
    const Result<ParticleTarget> t = ParticleTarget::make(p, {.anisotropic = stretched});
    ASSERT_TRUE(t.ok());
    for (int i = 0; i < 300; ++i) {
      const Vec3d at(rng.uniform(-1.3, 1.3), rng.uniform(-0.6, 0.6), rng.uniform(19.7, 22.3));
      const double plain = t->bruteForceAt(at);
      EXPECT_NEAR(sampledAt(*t, at), plain, 1e-5 + 1e-4 * plain);
      const FieldRange r = t->rangeIn(Box3d{at, at}.grown(0.05));
      EXPECT_LE(r.low, plain + 1e-9);
      EXPECT_GE(r.high, plain - 1e-9);
    }
  }
}

TEST(ParticleTarget, ALonelyParticleIsABallOfItsVolume) {
  Particles p;
  p.positions = {Vec3f(0, 0, 0), Vec3f(5, 0, 0), Vec3f(0, 7, 0)};
  const Result<ParticleTarget> t = ParticleTarget::make(p, {.radius_m = 0.1});
  ASSERT_TRUE(t.ok());
  const Result<Potential> f = buildPotential(*t, {.voxel_m = 0.02});
  ASSERT_TRUE(f.ok()) << f.error().text();
  const SurfaceMeasures m = measured(polygonised(*f));
  ASSERT_EQ(m.pieces.size(), 3u);
  for (const SurfacePiece& piece : m.pieces) EXPECT_NEAR(piece.volume, 0.008, 0.0008);
}

// Wide sprays have large cells; all of them counted as matter, and a thousand drops were refused
// for 4 GB.
TEST(ParticleTarget, AThousandLoneParticlesTakeMemoryByTheirNumber) {
  Rng rng(11);
  Particles p;
  for (int i = 0; i < 1000; ++i)
    p.positions.emplace_back(float(rng.uniform(0, 60)), float(rng.uniform(0, 60)),
                             float(rng.uniform(0, 60)));
  const Result<ParticleTarget> t = ParticleTarget::make(p, {.radius_m = 0.02});
  ASSERT_TRUE(t.ok());
  const Result<Potential> f =
      buildPotential(*t, {.voxel_m = 0.012, .max_memory = std::uint64_t{256} << 20});
  ASSERT_TRUE(f.ok()) << f.error().text();
  const SurfaceMeasures m = measured(polygonised(*f));
  EXPECT_EQ(m.pieces.size(), 1000u);
  EXPECT_NEAR(m.volume / (1000 * 8e-6 * 8), 1, 0.15);  // chords of balls two voxels round
  EXPECT_LT(f->grid.blockCount() * skinBytesPerBlock(), std::uint64_t{100} << 20);
}

TEST(ParticleTarget, NamesTheParticleThatIsWrong) {
  Particles p = cubeOfParticles(3, 0.1f);
  const auto message = [&](const ParticleTargetDesc& desc) {
    const Result<ParticleTarget> t = ParticleTarget::make(p, desc);
    return t.ok() ? std::string("ok") : t.error().text();
  };
  EXPECT_EQ(message({.radius_m = 0.05}), "ok");
  EXPECT_NE(message({}).find("radius"), std::string::npos);
  p.radii.assign(p.size(), 0.05f);
  p.radii[7] = 0;
  EXPECT_NE(message({}).find("radii[7]"), std::string::npos);
  p.radii.clear();
  p.positions[4].y() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(message({.radius_m = 0.05}).find("positions[4]"), std::string::npos);
  p.positions.clear();
  EXPECT_NE(message({.radius_m = 0.05}).find("none"), std::string::npos);
}

TriMesh ballMesh(double radius, double voxel) {
  return polygonised(*buildPotential(SphereTarget(Vec3d(0.1, 0, 0), radius), {.voxel_m = voxel}));
}

TEST(MeshPotential, GivesTheDistanceToABall) {
  Diagnostics notes;
  const TriMesh ball = ballMesh(0.5, 0.03);
  const Result<Potential> p = buildMeshPotential(ball, {.voxel_m = 0.05}, notes);
  ASSERT_TRUE(p.ok()) << p.error().text();
  Rng rng(2);
  for (int i = 0; i < 500; ++i) {
    const Vec3d way =
        Vec3d(rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1, 1)).normalized();
    const double r = rng.uniform(0.4, 0.6);
    EXPECT_NEAR(p->valueAt(Vec3d(0.1, 0, 0) + r * way), 0.5 - r, 0.006);
  }
  EXPECT_TRUE(p->contactAt(Vec3d(0.1, 0, 0)).inside);
  EXPECT_TRUE(notes.empty());
}

TEST(MeshPotential, TurnsAnInsideOutMeshAndClosesSmallGapsWithANote) {
  TriMesh ball = ballMesh(0.5, 0.03);
  for (Triangle& t : ball.triangles) std::swap(t[1], t[2]);
  for (std::size_t i = 0; i < ball.triangles.size(); i += 97)
    ball.triangles.erase(ball.triangles.begin() + static_cast<std::ptrdiff_t>(i));
  Diagnostics notes;
  const Result<Potential> p = buildMeshPotential(ball, {.voxel_m = 0.05}, notes);
  ASSERT_TRUE(p.ok()) << p.error().text();
  EXPECT_EQ(notes.count("mesh-inside-out"), 1u);
  EXPECT_EQ(notes.count("mesh-not-closed"), 1u);
  const SurfaceMeasures m = measured(polygonised(*p));
  EXPECT_EQ(m.euler_number, 2);
  EXPECT_NEAR(m.volume / (4.0 / 3 * M_PI * 0.125), 1, 0.02);
}

// Holes of some voxels let the flood in: a head with open eyes started torn, and a note spoke of
// openings below a voxel.
TEST(MeshPotential, ClosesSmallOpeningsWhereTheWindingNumberPassesOneHalf) {
  TriMesh ball = ballMesh(0.5, 0.02);
  const Vec3d middle(0.1, 0, 0);
  std::erase_if(ball.triangles, [&](const Triangle& t) {
    const Vec3d d = ball.positions[t[0]].cast<double>() - middle;
    return d.z() > 0.3 && (Vec3d(d - Vec3d(0.2, 0.1, 0.447)).norm() < 0.09 ||
                           Vec3d(d - Vec3d(-0.2, 0.1, 0.447)).norm() < 0.09);
  });
  for (const double voxel : {0.05, 0.02, 0.01}) {
    Diagnostics notes;
    const Result<Potential> p = buildMeshPotential(ball, {.voxel_m = voxel}, notes);
    ASSERT_TRUE(p.ok()) << p.error().text();
    ASSERT_EQ(notes.count("mesh-not-closed"), 1u);
    EXPECT_NE(notes.notes()[0].message.find(" openings were closed, the widest 0."),
              std::string::npos)
        << notes.notes()[0].message;
    const SurfaceMeasures m = measured(polygonised(*p));
    EXPECT_EQ(m.euler_number, 2) << voxel;
    EXPECT_NEAR(m.volume / (4.0 / 3 * M_PI * 0.125), 1, 0.02);
    std::vector<Vec3d> positions;
    for (const Vec3f& v : ball.positions) positions.push_back(v.cast<double>());
    Rng rng(3);
    for (int i = 0; i < 60; ++i) {
      const Vec3d at =
          middle + Vec3d(rng.uniform(-0.3, 0.3), rng.uniform(0, 0.2), rng.uniform(0.3, 0.55));
      const double w = windingNumber(positions, ball.triangles, at);
      if (std::abs(w - 0.5) <= 0.15) continue;
      EXPECT_EQ(p->contactAt(at).inside, w > 0.5) << at.transpose();
    }
  }
}

TEST(MeshPotential, RefusesAnOpenMeshAndSaysWhere) {
  TriMesh ball = ballMesh(0.5, 0.03);
  std::erase_if(ball.triangles, [&](const Triangle& t) { return ball.positions[t[0]].y() > 0.3f; });
  Diagnostics notes;
  const Result<Potential> p = buildMeshPotential(ball, {.voxel_m = 0.05}, notes);
  ASSERT_FALSE(p.ok());
  EXPECT_NE(p.error().text().find("is open"), std::string::npos) << p.error().text();
  EXPECT_FALSE(buildMeshPotential(TriMesh{}, {}, notes).ok());
}

TEST(PotentialTarget, IsTheSurfaceItWasMadeFrom) {
  const auto shared = std::make_shared<const Potential>(
      *buildPotential(TorusTarget(Vec3d::Zero(), 0.6, 0.2), {.voxel_m = 0.04}));
  const PotentialTarget target(shared);
  const Result<Potential> again =
      buildPotential(target, {.voxel_m = 0.03, .origin = Vec3d(0.01, 0, 0)});
  ASSERT_TRUE(again.ok()) << again.error().text();
  const TriMesh mesh = polygonised(*again);
  EXPECT_EQ(measured(mesh).euler_number, 0);
  for (const Vec3f& v : mesh.positions)
    EXPECT_NEAR(shared->valueAt(v.cast<double>()), 0, 0.1 * 0.04);
}

TEST(LevelSetExchange, GivesTheSamePotentialBack) {
  const Potential p = *buildPotential(TorusTarget(Vec3d::Zero(), 0.6, 0.25), {.voxel_m = 0.02});
  const LevelSetBlocks blocks = levelSetOf(p);
  EXPECT_FALSE(blocks.inside.empty());
  const Result<Potential> back = potentialOf(blocks);
  ASSERT_TRUE(back.ok()) << back.error().text();
  const TriMesh a = polygonised(p), b = polygonised(*back);
  EXPECT_EQ(a.positions, b.positions);
  EXPECT_EQ(a.triangles, b.triangles);
  EXPECT_TRUE(back->contactAt(Vec3d(0.6, 0, 0)).inside);
  LevelSetBlocks odd = blocks;
  odd.values[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(potentialOf(odd).ok());
  odd = blocks;
  odd.values.pop_back();
  EXPECT_FALSE(potentialOf(odd).ok());
}

}  // namespace
}  // namespace derm::targets_test
