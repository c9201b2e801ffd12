#include "derm/volume/volume_methods.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/allocations.h"
#include "support/shelf.h"
#include "volume/volume_rig.h"

namespace derm::volume_methods_test {
namespace {

using volume_rig::bent;
using volume_rig::cylinderGamma;
using volume_rig::errorOf;
using volume_rig::makeRig;
using volume_rig::Rig;
using volume_rig::solve;
using volume_rig::Solved;

struct Bend {
  CylinderModel model = makeCylinderModel(CylinderKind::M258);
  Rig rig = makeRig(model.positions, model.triangles, {.kind = RegionKind::Whole});
  std::vector<double> ones = std::vector<double>(rig.surface->weldedCount(), 1.0);
  std::vector<Vec3d> at(double degrees) const { return rig.points(bent(model, degrees)); }
};

Result<VolumeMethodBinding> bindTo(const Rig& rig, std::span<const double> gamma,
                                   const VolumeMethodDesc& desc, Diagnostics& notes) {
  return VolumeMethodBinding::bind(rig.surface, rig.regions, rig.volumes, gamma, rig.rest_m3, desc,
                                   notes);
}

std::vector<VolumeMethodDesc> allMethods() {
  std::vector<VolumeMethodDesc> out = {{.method = VolumeMethod::AxesLinear},
                                       {.method = VolumeMethod::AxesExact}};
  for (const VolumeMethod method :
       {VolumeMethod::Gradient, VolumeMethod::Normal, VolumeMethod::Laplacian})
    for (const VolumeSolve how :
         {VolumeSolve::Linearised, VolumeSolve::Exact, VolumeSolve::Minimiser})
      out.push_back({.method = method, .solve = how});
  return out;
}

TEST(VolumeMethods, EveryParameterOutOfRangeIsAnErrorThatNamesIt) {
  const Bend b;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto element = [&](const VolumeMethodDesc& desc) {
    Diagnostics notes;
    const auto bound = bindTo(b.rig, b.ones, desc, notes);
    return bound.ok() ? std::string("none") : bound.error().where.element;
  };
  EXPECT_EQ(element({}), "none");
  EXPECT_EQ(element({.split = {1, -1, 1}}), "split");
  EXPECT_EQ(element({.split = {0, 0, 0}}), "split");
  EXPECT_EQ(element({.split = {1, nan, 0}}), "split");
  EXPECT_EQ(element({.axis_order = {0, 0, 1}}), "axis_order");
  EXPECT_EQ(element({.kappa = -1}), "kappa");
  EXPECT_EQ(element({.kappa = nan}), "kappa");
  EXPECT_EQ(element({.max_change = 0}), "max_change");
  EXPECT_EQ(element({.max_change = 1}), "max_change");
}

TEST(VolumeMethods, BadGammaIsAnErrorWithItsIndex) {
  const Bend b;
  Diagnostics notes;
  std::vector<double> gamma = b.ones;
  gamma[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(bindTo(b.rig, gamma, {}, notes).error().where.index, 7u);
  gamma[7] = 1.5;
  EXPECT_EQ(bindTo(b.rig, gamma, {}, notes).error().where.index, 7u);
  const std::vector<double> none(b.ones.size(), 0.0);
  EXPECT_NE(bindTo(b.rig, none, {}, notes).error().message.find("no vertex may move"),
            std::string::npos);
  EXPECT_FALSE(bindTo(b.rig, std::span(b.ones).first(3), {}, notes).ok());
}

TEST(VolumeMethods, TheRestStaysAsItIs) {
  const Bend b;
  for (const VolumeMethodDesc& desc : allMethods()) {
    const Solved s = solve(b.rig, b.ones, desc, b.rig.rest);
    EXPECT_EQ(s.largest(), 0) << int(desc.method);
    EXPECT_FALSE(s.outcomes[0].clamped || s.outcomes[0].idle || s.outcomes[0].short_of_target);
  }
}

TEST(VolumeMethods, FixedVerticesStayAndTheRestMakesUpForThem) {
  const Bend b;
  std::vector<double> gamma = b.ones;
  for (std::size_t i = 0; i < gamma.size(); ++i)
    if (b.rig.rest[i].z() < 4) gamma[i] = 0;
  for (const VolumeMethodDesc& desc : allMethods()) {
    const Solved s = solve(b.rig, gamma, desc, b.at(60));
    for (std::size_t i = 0; i < gamma.size(); ++i)
      if (gamma[i] == 0) {
        EXPECT_EQ(s.u[i], Vec3d(Vec3d::Zero()));
      }
    const bool linear =
        desc.method == VolumeMethod::AxesLinear ||
        (desc.solve == VolumeSolve::Linearised && desc.method != VolumeMethod::AxesExact);
    EXPECT_LE(errorOf(b.rig, s), linear ? 5e-3 : 1e-12) << int(desc.method);
  }
}

// A resting cylinder with both caps fixed has no gradient along its axis: 0/0 as printed.
TEST(VolumeMethods, AnAxisWithoutGradientGivesItsShareToTheOthers) {
  const Bend b;
  std::vector<double> gamma = b.ones;
  for (std::size_t i = 0; i < gamma.size(); ++i)
    if (b.rig.rest[i].z() < 1e-6 || b.rig.rest[i].z() > 20 - 1e-6) gamma[i] = 0;
  const std::vector<double> more = {1.1 * b.rig.rest_m3[0]};
  for (const VolumeMethod method : {VolumeMethod::AxesLinear, VolumeMethod::AxesExact}) {
    const Solved s = solve(b.rig, gamma, {.method = method}, b.rig.rest, b.rig.rest_anchors, more);
    EXPECT_TRUE(std::isfinite(s.largest()));
    for (const Vec3d& u : s.u) EXPECT_NEAR(u.z(), 0, 1e-12);
    EXPECT_NEAR(s.after_m3[0] / more[0], 1, method == VolumeMethod::AxesExact ? 1e-13 : 2e-2);
  }
  VolumeMethodDesc only_z{.method = VolumeMethod::AxesExact, .split = {0, 0, 1}};
  const Solved stuck = solve(b.rig, gamma, only_z, b.rig.rest, b.rig.rest_anchors, more);
  EXPECT_TRUE(stuck.outcomes[0].idle);
  EXPECT_EQ(stuck.largest(), 0);
}

TEST(VolumeMethods, TargetsTooFarAwayAreClampedAndReported) {
  const Bend b;
  for (const VolumeMethodDesc& desc : allMethods())
    for (const double times : {-1.0, 0.0, 3.0}) {
      const std::vector<double> target = {times * b.rig.rest_m3[0]};
      const Solved s = solve(b.rig, b.ones, desc, b.rig.rest, b.rig.rest_anchors, target);
      EXPECT_TRUE(s.outcomes[0].clamped);
      EXPECT_LT(s.largest(), 10) << int(desc.method) << " " << times;
      EXPECT_GT(s.after_m3[0] / b.rig.rest_m3[0], 0) << int(desc.method) << " " << times;
    }
}

TEST(VolumeMethods, NumbersThatAreNotFiniteMoveNothing) {
  const Bend b;
  std::vector<Vec3d> x = b.at(60);
  x[11].y() = std::numeric_limits<double>::quiet_NaN();
  for (const VolumeMethodDesc& desc : allMethods()) {
    const Solved s = solve(b.rig, b.ones, desc, x);
    EXPECT_EQ(s.largest(), 0);
    EXPECT_TRUE(s.outcomes[0].idle);
  }
  const std::vector<double> bad = {std::numeric_limits<double>::infinity()};
  EXPECT_EQ(solve(b.rig, b.ones, {}, b.at(60), b.rig.rest_anchors, bad).largest(), 0);
}

TEST(VolumeMethods, RegionsWithoutVolumeOrMovingVerticesAreNotedAndLeftAlone) {
  TriMesh mesh = shelf::cube(1.0f);
  const auto base = static_cast<std::uint32_t>(mesh.vertexCount());
  for (const Vec3f& p : {Vec3f(5, 0, 0), Vec3f(6, 0, 0), Vec3f(5, 1, 0)})
    mesh.positions.push_back(p);
  mesh.triangles.push_back({base, base + 1, base + 2});
  const TriMesh other = shelf::sphere(6, 8, 0.5f, Vec3f(0, 9, 0));
  const auto second = static_cast<std::uint32_t>(mesh.vertexCount());
  mesh.positions.insert(mesh.positions.end(), other.positions.begin(), other.positions.end());
  for (const Triangle& t : other.triangles)
    mesh.triangles.push_back({second + t[0], second + t[1], second + t[2]});
  std::vector<Vec3d> positions;
  for (const Vec3f& p : mesh.positions) positions.push_back(p.cast<double>());
  const Rig rig = makeRig(positions, mesh.triangles, {.kind = RegionKind::Components});
  ASSERT_EQ(rig.regions->regionCount(), 3u);
  std::vector<double> gamma(rig.surface->weldedCount(), 1.0);
  for (std::size_t i = second; i < gamma.size(); ++i) gamma[i] = 0;
  Diagnostics notes;
  const VolumeMethodBinding bound = bindTo(rig, gamma, {}, notes).value();
  EXPECT_EQ(notes.count("volume-region-empty"), 1u);
  EXPECT_EQ(notes.count("volume-region-fixed"), 1u);
  std::vector<Vec3d> x = rig.rest;
  for (Vec3d& p : x) p *= 0.9;
  const Solved s = solve(rig, gamma, {}, x);
  EXPECT_LE(errorOf(rig, s, 0), 1e-13);
  EXPECT_TRUE(s.outcomes[1].idle && s.outcomes[2].idle);
  for (std::size_t i = base; i < x.size(); ++i) EXPECT_EQ(s.u[i], Vec3d(Vec3d::Zero()));
}

TEST(VolumeMethods, WhereNextToNothingMayMoveNothingIsThrownFarAway) {
  const Bend b;
  const std::vector<Vec3d> x = b.at(90);
  std::vector<double> gamma(b.ones.size(), 0.0);
  gamma[gamma.size() / 2] = 1;  // one vertex is to make up for a tenth of the cylinder
  const double max = 4 * std::cbrt(b.rig.rest_m3[0]);
  for (const VolumeMethodDesc& desc : allMethods()) {
    const Solved s = solve(b.rig, gamma, desc, x);
    EXPECT_LE(s.largest(), std::sqrt(3.0) * max) << int(desc.method) << " " << int(desc.solve);
    EXPECT_TRUE(s.outcomes[0].short_of_target || errorOf(b.rig, s, 0) < 1e-9);
  }
}

TEST(VolumeMethods, InsideOutSurfacesAreCorrectedTheSame) {
  const Bend b;
  std::vector<Triangle> flipped = b.model.triangles;
  for (Triangle& t : flipped) std::swap(t[0], t[1]);
  const Rig inverse = makeRig(b.model.positions, flipped, {.kind = RegionKind::Whole});
  EXPECT_LT(inverse.rest_m3[0], 0);
  for (const VolumeMethodDesc& desc : allMethods()) {
    const Solved one = solve(b.rig, b.ones, desc, b.at(70));
    const Solved other = solve(inverse, b.ones, desc, b.at(70));
    for (std::size_t i = 0; i < one.u.size(); ++i)
      EXPECT_LT((one.u[i] - other.u[i]).norm(), 1e-9) << int(desc.method);
  }
}

TEST(VolumeMethods, OpenTubesKeepTheVolumeOfTheirClosedForm) {
  const TriMesh tube = shelf::tube(24, 16, 0.5f, 6.0f);
  std::vector<Vec3d> positions;
  for (const Vec3f& p : tube.positions) positions.push_back(p.cast<double>());
  const Rig rig = makeRig(positions, tube.triangles, {.kind = RegionKind::Whole});
  ASSERT_EQ(rig.surface->apexCount(), 2u);
  for (Vec3d& p : positions) p = Vec3d(p.x() * (1 - 0.03 * p.z()), p.y(), p.z() + 0.2 * p.x());
  const std::vector<double> ones(rig.surface->weldedCount(), 1.0);
  for (const VolumeMethodDesc& desc : allMethods()) {
    const Solved s = solve(rig, ones, desc, rig.points(positions));
    const bool linear =
        desc.method == VolumeMethod::AxesLinear ||
        (desc.solve == VolumeSolve::Linearised && desc.method != VolumeMethod::AxesExact);
    EXPECT_LE(errorOf(rig, s), linear ? 5e-3 : 1e-12) << int(desc.method) << int(desc.solve);
  }
}

// A tube pushed through itself at rest has a signed volume like any other, and that is kept.
TEST(VolumeMethods, SelfCrossingRestMeshesKeepTheirSignedVolume) {
  CylinderModel model = makeCylinderModel(CylinderKind::M258);
  for (Vec3d& p : model.positions)
    if (p.z() > 14) p.z() = 28 - p.z() - 1.5 * (p.z() - 14);
  const Rig rig = makeRig(model.positions, model.triangles, {.kind = RegionKind::Whole});
  const std::vector<double> ones(rig.surface->weldedCount(), 1.0);
  std::vector<Vec3d> x = rig.rest;
  for (Vec3d& p : x) p.x() *= 0.95;
  for (const VolumeMethodDesc& desc : allMethods()) {
    const bool linear =
        desc.method == VolumeMethod::AxesLinear ||
        (desc.solve == VolumeSolve::Linearised && desc.method != VolumeMethod::AxesExact);
    const Solved s = solve(rig, ones, desc, x);
    EXPECT_LE(errorOf(rig, s), linear ? 1e-2 : 1e-12) << int(desc.method);
    EXPECT_LT(s.largest(), 1);
  }
}

TEST(VolumeMethods, SolvingAllocatesNothing) {
  const Bend b;
  const std::vector<Vec3d> x = b.at(80);
  for (const VolumeMethodDesc& desc : allMethods()) {
    Diagnostics notes;
    const VolumeMethodBinding bound = bindTo(b.rig, b.ones, desc, notes).value();
    VolumeMethodBinding::Scratch scratch = bound.makeScratch();
    std::vector<Vec3d> u(x.size());
    std::vector<RegionOutcome> outcomes(1);
    bound.solve(x, b.rig.rest_anchors, b.rig.rest_m3, scratch, u, outcomes);
    const std::size_t before = testing_support::allocationCount();
    bound.solve(x, b.rig.rest_anchors, b.rig.rest_m3, scratch, u, outcomes);
    EXPECT_EQ(testing_support::allocationCount(), before) << int(desc.method) << int(desc.solve);
  }
}

TEST(CubicRoot, TakesTheRootReachedWithoutTurningBack) {
  // s (1 - s)(2 - s)-like curves have three roots; the near one counts.
  const auto value = [](double c1, double c2, double c3, double s) {
    return s * (c1 + s * (c2 + s * c3));
  };
  for (const double c2 : {-3.0, -1.0, 0.0, 1.0, 3.0})
    for (const double c3 : {-2.0, -0.5, 0.0, 0.5, 2.0})
      for (const double wanted : {-0.3, -0.01, 0.01, 0.3, 2.0}) {
        const CubicRoot root = firstCubicRoot(2, c2, c3, wanted);
        // The slope keeps its sign on the whole way.
        for (int n = 0; n <= 100; ++n) {
          const double s = root.s * n / 100;
          EXPECT_GT(2 + s * (2 * c2 + 3 * s * c3), 0) << c2 << " " << c3 << " " << wanted;
        }
        if (root.reached) {
          EXPECT_NEAR(value(2, c2, c3, root.s), wanted, 1e-13);
        } else {
          EXPECT_LT(std::abs(value(2, c2, c3, root.s)), std::abs(wanted));
        }
      }
  EXPECT_EQ(firstCubicRoot(1, 2, 3, 0).s, 0);
  EXPECT_NEAR(firstCubicRoot(1, 0, 0, 5).s, 5, 1e-15);
  EXPECT_FALSE(firstCubicRoot(1, -10, 0, 5).reached);
}

}  // namespace
}  // namespace derm::volume_methods_test
