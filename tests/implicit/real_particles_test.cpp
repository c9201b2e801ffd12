// Particle sets of other people's simulations: surfaced without holes or stray blobs.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include <gtest/gtest.h>

#include "derm/implicit/surface_particles.h"
#include "derm/io/particle_file.h"
#include "derm/mesh/closedness.h"

#include "support/compare.h"

namespace derm::real_particles_test {
namespace {

struct RealSet {
  const char* file;
  double radius_m;
  std::size_t max_pieces;
  int max_handles;  ///< holes through the skin; a splash has loops of its own
};

/// Middles between particles nearer than three radii that are outside: holes in what is one body.
std::size_t gaps(const Particles& particles, double radius_m, const Potential& skin) {
  std::vector<Vec3d> positions;
  for (const Vec3f& p : particles.positions) positions.push_back(p.cast<double>());
  std::sort(positions.begin(), positions.end(),
            [](const Vec3d& a, const Vec3d& b) { return a.x() < b.x(); });
  std::size_t count = 0;
  for (std::size_t i = 0; i < positions.size(); ++i)
    for (std::size_t j = i + 1;
         j < positions.size() && positions[j].x() - positions[i].x() < 3 * radius_m; ++j)
      if ((positions[i] - positions[j]).squaredNorm() < 9 * radius_m * radius_m)
        count += !skin.contactAt(0.5 * (positions[i] + positions[j])).inside;
  return count;
}

TEST(RealParticles, AreSurfacedClosedWithEveryParticleInside) {
  DERM_DATA_OR_SKIP(folder, "particles-sph");
  for (const RealSet& set : {RealSet{"cube_2366_particles.vtk", 0.025, 1, 0},
                             RealSet{"hilbert2_7954_particles.vtk", 0.025, 1, 0},
                             RealSet{"double_dam_break_frame_01_4732_particles.vtk", 0.025, 2, 0},
                             RealSet{"double_dam_break_frame_26_4732_particles.vtk", 0.025, 12, 12},
                             RealSet{"free_particles_125_particles.vtk", 0.3, 125, 2}}) {
    SCOPED_TRACE(set.file);
    const std::filesystem::path file = folder / set.file;
    Diagnostics notes;
    const Result<Particles> particles = loadParticles(file, notes);
    ASSERT_TRUE(particles.ok()) << particles.error().text();
    ParticleSurfacingDesc desc;
    desc.kernel.radius_m = set.radius_m;
    desc.law = {.attraction = 2, .tension = 0.05 * set.radius_m * set.radius_m};
    desc.lattice.voxel_m = 0.6 * set.radius_m;
    Result<ParticleSurfacer> surfacer = ParticleSurfacer::make(*particles, desc);
    ASSERT_TRUE(surfacer.ok()) << surfacer.error().text();
    TriMesh mesh;
    surfacer->skin().polygonise(mesh);
    EXPECT_TRUE(checkClosed(mesh.triangles).closed());  // every edge once each way
    for (const Vec3f& n : mesh.normals) ASSERT_TRUE(n.allFinite());
    const SurfaceMeasures m = measured(mesh);
    std::size_t outside = 0, hollows = 0;
    for (const Vec3f& p : particles->positions)
      outside += !surfacer->skin().potential().contactAt(p.cast<double>()).inside;
    int handles = 0;
    for (const SurfacePiece& piece : m.pieces) {
      hollows += piece.volume < 0;
      handles += (2 - piece.euler_number) / 2;
      // The smallest blob is a particle's own.
      EXPECT_GT(std::abs(piece.volume), 2 * std::pow(set.radius_m, 3));
    }
    const std::size_t torn = gaps(*particles, set.radius_m, surfacer->skin().potential());
    std::printf(
        "%s: %zu pieces, %zu hollows, %d handles, %zu particles outside, %zu gaps, V/matter %.3f\n",
        set.file, m.pieces.size(), hollows, handles, outside, torn,
        m.volume / (8 * std::pow(set.radius_m, 3) * double(particles->size())));
    EXPECT_LE(m.pieces.size() - hollows, set.max_pieces);
    EXPECT_LE(handles, set.max_handles);
    EXPECT_EQ(hollows, 0u);
    EXPECT_LE(outside, particles->size() / 500);
    EXPECT_LE(torn, particles->size() / 500);
  }
}

}  // namespace
}  // namespace derm::real_particles_test
