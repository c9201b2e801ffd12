// What must hold for the volume methods whatever the input: moving, scaling, mirroring and
// reordering commute with all but the axes, which depend on the frame by design.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/base/rng.h"

#include "volume/volume_rig.h"

namespace derm::volume_methods_property_test {
namespace {

using volume_rig::bent;
using volume_rig::makeRig;
using volume_rig::Rig;
using volume_rig::solve;
using volume_rig::Solved;

struct Case {
  CylinderModel model = makeCylinderModel(CylinderKind::M258);
  Rig rig = makeRig(model.positions, model.triangles, {.kind = RegionKind::Whole});
  std::vector<double> gamma = volume_rig::cylinderGamma(rig, model, 5, 2);
  std::vector<Vec3d> x = rig.points(bent(model, 80));
};

std::vector<VolumeMethodDesc> invariantMethods() {
  std::vector<VolumeMethodDesc> out;
  for (const VolumeMethod method :
       {VolumeMethod::Gradient, VolumeMethod::Normal, VolumeMethod::Laplacian})
    for (const VolumeSolve how :
         {VolumeSolve::Linearised, VolumeSolve::Exact, VolumeSolve::Minimiser})
      out.push_back({.method = method, .solve = how});
  return out;
}

TEST(VolumeMethodsProperty, RigidMotionCommutes) {
  const Case c;
  const Mat3d turn = Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, 3).normalized()).matrix();
  const Vec3d shift(4, -5, 6);
  std::vector<Vec3d> moved;
  for (const Vec3d& p : c.x) moved.push_back(turn * p + shift);
  for (const VolumeMethodDesc& desc : invariantMethods()) {
    const Solved one = solve(c.rig, c.gamma, desc, c.x);
    const Solved other = solve(c.rig, c.gamma, desc, moved);
    for (std::size_t i = 0; i < c.x.size(); ++i)
      EXPECT_LT((turn * one.u[i] - other.u[i]).norm(), 1e-8 * one.largest()) << int(desc.method);
  }
}

TEST(VolumeMethodsProperty, TheAxesDependOnTheFrameByDesign) {
  const Case c;
  const Mat3d turn = Eigen::AngleAxisd(0.7, Eigen::Vector3d::UnitY()).matrix();
  std::vector<Vec3d> moved;
  for (const Vec3d& p : c.x) moved.push_back(turn * p);
  const VolumeMethodDesc desc{.method = VolumeMethod::AxesExact};
  const std::vector<double> ones(c.gamma.size(), 1.0);
  const Solved one = solve(c.rig, ones, desc, c.x);
  const Solved other = solve(c.rig, ones, desc, moved);
  double max = 0;
  for (std::size_t i = 0; i < c.x.size(); ++i)
    max = std::max(max, (turn * one.u[i] - other.u[i]).norm());
  EXPECT_GT(max, 0.01);
  EXPECT_LT(max, 0.1);
}

TEST(VolumeMethodsProperty, UniformScaleCommutes) {
  const Case c;
  for (const double scale : {1e-3, 250.0}) {
    std::vector<Vec3d> rest, x;
    for (const Vec3d& p : c.model.positions) rest.push_back(scale * p);
    for (const Vec3d& p : c.x) x.push_back(scale * p);
    const Rig rig = makeRig(rest, c.model.triangles, {.kind = RegionKind::Whole});
    std::vector<VolumeMethodDesc> methods = invariantMethods();
    methods.push_back({.method = VolumeMethod::AxesLinear});
    methods.push_back({.method = VolumeMethod::AxesExact});
    for (const VolumeMethodDesc& desc : methods) {
      const Solved one = solve(c.rig, c.gamma, desc, c.x);
      const Solved other = solve(rig, c.gamma, desc, x);
      for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_LT((scale * one.u[i] - other.u[i]).norm(), 1e-7 * scale * one.largest());
    }
  }
}

TEST(VolumeMethodsProperty, MirroringCommutes) {
  const Case c;
  const auto mirrored = [](std::span<const Vec3d> points) {
    std::vector<Vec3d> out;
    for (const Vec3d& p : points) out.emplace_back(-p.x(), p.y(), p.z());
    return out;
  };
  std::vector<Triangle> triangles = c.model.triangles;
  for (Triangle& t : triangles) std::swap(t[1], t[2]);
  const Rig rig = makeRig(mirrored(c.model.positions), triangles, {.kind = RegionKind::Whole});
  for (const VolumeMethodDesc& desc : invariantMethods()) {
    const Solved one = solve(c.rig, c.gamma, desc, c.x);
    const Solved other = solve(rig, c.gamma, desc, mirrored(c.x));
    const std::vector<Vec3d> expected = mirrored(one.u);
    for (std::size_t i = 0; i < c.x.size(); ++i)
      EXPECT_LT((expected[i] - other.u[i]).norm(), 1e-8 * one.largest());
  }
}

TEST(VolumeMethodsProperty, ReorderingVerticesReordersTheResult) {
  const Case c;
  std::vector<std::uint32_t> to(c.model.positions.size());
  std::iota(to.begin(), to.end(), 0u);
  Rng rng(3);
  for (std::size_t i = to.size(); i > 1; --i) std::swap(to[i - 1], to[rng.below(i)]);
  std::vector<Vec3d> rest(to.size()), x(to.size());
  std::vector<double> gamma(to.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    rest[to[i]] = c.model.positions[i];
    x[to[i]] = c.x[i];
    gamma[to[i]] = c.gamma[i];
  }
  std::vector<Triangle> triangles = c.model.triangles;
  for (Triangle& t : triangles)
    for (std::uint32_t& v : t) v = to[v];
  std::reverse(triangles.begin(), triangles.end());
  const Rig rig = makeRig(rest, triangles, {.kind = RegionKind::Whole});
  for (const VolumeMethodDesc& desc : invariantMethods()) {
    const Solved one = solve(c.rig, c.gamma, desc, c.x);
    const Solved other = solve(rig, gamma, desc, x);
    for (std::size_t i = 0; i < to.size(); ++i)
      EXPECT_LT((one.u[i] - other.u[to[i]]).norm(), 1e-8 * one.largest());
  }
}

TEST(VolumeMethodsProperty, SameBitsForEveryThreadCount) {
  // Large enough for several chunks.
  std::vector<Vec3d> positions;
  std::vector<Triangle> triangles;
  constexpr std::uint32_t kRings = 120, kSectors = 120;
  for (std::uint32_t k = 0; k < kRings; ++k)
    for (std::uint32_t i = 0; i < kSectors; ++i) {
      const double a = 2 * std::numbers::pi * i / kSectors;
      positions.emplace_back(std::cos(a), std::sin(a), 0.1 * k);
    }
  for (std::uint32_t k = 0; k + 1 < kRings; ++k)
    for (std::uint32_t i = 0; i < kSectors; ++i) {
      const std::uint32_t a = k * kSectors + i, b = k * kSectors + (i + 1) % kSectors;
      triangles.push_back({a, b, b + kSectors});
      triangles.push_back({a, b + kSectors, a + kSectors});
    }
  const Rig rig = makeRig(positions, triangles, {.kind = RegionKind::Whole});
  std::vector<Vec3d> x = positions;
  for (Vec3d& p : x) p.x() += 0.01 * p.z() * p.z() - 0.05 * p.x();
  const std::vector<double> ones(rig.surface->weldedCount(), 1.0);
  const std::vector<Vec3d> points = rig.points(x);
  for (const VolumeMethod method : {VolumeMethod::AxesLinear, VolumeMethod::AxesExact,
                                    VolumeMethod::Gradient, VolumeMethod::Normal}) {
    std::vector<std::vector<Vec3d>> results;
    for (const int threads : {1, 2, 5}) {
      const ThreadLimit limit(threads);
      results.push_back(solve(rig, ones, {.method = method}, points).u);
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
}

}  // namespace
}  // namespace derm::volume_methods_property_test
