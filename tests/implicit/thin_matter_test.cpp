// What is one particle thick, made here rather than simulated: uneven sheets, threads, jets and
// crowns, whole and stretched, turned at random, for several kernels and voxels. All must come out
// in one piece without a hole, and what is not stretched as thick as its matter.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/implicit/polygonise.h"
#include "derm/implicit/surface_particles.h"

namespace derm::thin_matter_test {
namespace {

using Points = std::vector<Vec3d>;  // distances in those of neighbours: one particle each is 1^3

Vec3d uneven(Rng& rng, double by) {
  return by * Vec3d(rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1, 1));
}

Points sheet(Rng& rng, double spacing, double off) {
  Points points;
  for (int i = 0; i < 16 * 16; ++i)
    points.push_back(spacing * Vec3d(i % 16, i / 16, 0) + uneven(rng, off));
  return points;
}

Points thread(Rng& rng, double spacing, double off) {
  Points points;
  Vec3d at = Vec3d::Zero(), along = Vec3d::UnitX();
  for (int i = 0; i < 50; ++i) {
    points.push_back(at + uneven(rng, off));
    along = (along + 0.08 * Vec3d(0, std::sin(0.13 * i), std::cos(0.09 * i))).normalized();
    at += spacing * along;
  }
  return points;
}

/// Three particles wide at its foot, a thread at its tip.
Points jet(Rng& rng, double off) {
  Points points;
  for (int z = 0; z < 24; ++z)
    for (int n = 0; n < 49; ++n) {
      const Vec3d p(n % 7 - 3, n / 7 - 3, z);
      if (p.head<2>().norm() <= 3 * (1 - z / 24.0)) points.push_back(p + uneven(rng, off));
    }
  return points;
}

/// A wall that widens with its height on two layers of floor.
Points crown(Rng& rng, double stretch, double off) {
  constexpr int kAround = 36;
  const double radius = kAround / (2 * std::numbers::pi);
  Points points;
  double z = 0;
  for (int k = 0; k < 10; ++k) {
    const double wider = 1 + (stretch - 1) * k / 9.0;
    for (int i = 0; i < kAround; ++i) {
      const double a = 2 * std::numbers::pi * (i + 0.5 * (k % 2)) / kAround;
      points.push_back(Vec3d(wider * radius * std::cos(a), wider * radius * std::sin(a), z) +
                       uneven(rng, off));
    }
    z += wider;
  }
  for (int n = 0; n < 17 * 17; ++n)
    for (double layer : {-0.5, -1.5}) {
      const Vec3d p(n % 17 - 8, n / 17 - 8, layer);
      if (p.head<2>().norm() < radius) points.push_back(p + uneven(rng, off));
    }
  return points;
}

struct Surfaced {
  int pieces = 0, handles = 0;
  double over_matter = 0;  ///< volume
};

struct Kernel {
  double radius, reach, voxel;  ///< the voxel in radii
};

/// Turned and shifted at random. `tension` in squares of the radius.
Surfaced surfaced(Rng& rng, const Points& points, const Kernel& kernel, double tension = 0.05) {
  const double radius = kernel.radius;
  const auto bell = [&] { return rng.uniform(-1, 1) + rng.uniform(-1, 1) + rng.uniform(-1, 1); };
  const Mat3d turn = Quatd(bell(), bell(), bell(), bell()).normalized().toRotationMatrix();
  const Vec3d shift = uneven(rng, 1);
  Particles particles;
  for (const Vec3d& p : points)
    particles.positions.push_back(Vec3d(2 * radius * (turn * p + shift)).cast<float>());
  ParticleSurfacingDesc desc;
  desc.kernel.radius_m = radius;
  desc.kernel.reach = kernel.reach;
  desc.law = {.attraction = 2, .tension = tension * radius * radius};
  desc.lattice.voxel_m = kernel.voxel * radius;
  Result<ParticleSurfacer> surfacer = ParticleSurfacer::make(particles, desc);
  EXPECT_TRUE(surfacer.ok()) << surfacer.error().text();
  TriMesh mesh;
  surfacer->skin().polygonise(mesh);
  const SurfaceMeasures m = measured(mesh);
  Surfaced result{int(m.pieces.size()), 0, m.volume};
  for (const SurfacePiece& piece : m.pieces) result.handles += (2 - piece.euler_number) / 2;
  result.over_matter /= 8 * std::pow(radius, 3) * double(points.size());
  return result;
}

constexpr Kernel kKernels[] = {{0.5, 4, 0.6}, {0.01, 4, 0.4}, {3, 5, 0.6}, {0.5, 6, 0.8}};
constexpr double kOff[] = {0.05, 0.15, 0.25};  // of the distance of neighbours

/// Surfaces each kind with every kernel; returns the smallest and the largest volume over matter.
template <class Make>
std::pair<double, double> allWhole(const char* name, std::uint64_t seed, const Make& make) {
  double min = 1e9, max = 0;
  for (const Kernel& k : kKernels)
    for (const double off : kOff) {
      Rng rng(seed++);
      const Surfaced d = surfaced(rng, make(rng, off), k);
      EXPECT_EQ(d.pieces, 1) << name << ", reach " << k.reach << ", off by " << off;
      EXPECT_EQ(d.handles, 0) << name << ", reach " << k.reach << ", off by " << off;
      min = std::min(min, d.over_matter);
      max = std::max(max, d.over_matter);
    }
  std::printf("%s: whole, volume over matter %.2f to %.2f\n", name, min, max);
  return {min, max};
}

TEST(ThinMatter, IsWholeAndAsThickAsItsMatterWhereNothingIsStretched) {
  for (const auto& [min, max] :
       {allWhole("sheet", 100, [](Rng&r, double off) { return sheet(r, 1, off); }),
        allWhole("thread", 200, [](Rng&r, double off) { return thread(r, 1, off); }),
        allWhole("crown", 300, [](Rng&r, double off) { return crown(r, 1, off); })}) {
    EXPECT_GT(min, 0.85);
    EXPECT_LT(max, 1.2);
  }
}

TEST(ThinMatter, DoesNotTearWhereItIsStretchedByAQuarter) {
  // A sheet's area has grown by half then: the price of no hole is its thickness.
  const auto sheets = allWhole("sheet stretched by 1.25", 400,
                               [](Rng& r, double off) { return sheet(r, 1.25, 1.25 * off); });
  const auto threads = allWhole("thread stretched by 1.25", 500,
                                [](Rng& r, double off) { return thread(r, 1.25, 1.25 * off); });
  const auto crowns = allWhole("crown widened by 1.25", 600,
                               [](Rng& r, double off) { return crown(r, 1.25, off); });
  EXPECT_LT(sheets.second, 2.5);
  EXPECT_LT(threads.second, 2.3);
  EXPECT_LT(crowns.second, 1.6);
}

TEST(ThinMatter, JetsStayWholeDownToTheThreadAtTheirTip) {
  for (const double off : kOff) {
    Rng rng(700);
    const Surfaced d = surfaced(rng, jet(rng, off), {0.5, 4, 0.6});
    EXPECT_EQ(d.pieces, 1);
    EXPECT_EQ(d.handles, 0);
    EXPECT_NEAR(d.over_matter, 1, 0.1);
  }
}

TEST(ThinMatter, DropsFarApartAreBallsOfTheirOwnVolumeForAnyReach) {
  for (const double reach : {3.0, 4.0, 5.0, 6.0}) {
    Points points;
    for (int i = 0; i < 8; ++i) points.push_back(4.5 * Vec3d(i % 2, i / 2 % 2, i / 4));
    Rng rng(800);
    const Surfaced d = surfaced(rng, points, {0.5, reach, 0.3}, 0);
    EXPECT_EQ(d.pieces, 8);
    EXPECT_NEAR(d.over_matter, 1, 0.08) << "reach " << reach;
  }
}

}  // namespace
}  // namespace derm::thin_matter_test
