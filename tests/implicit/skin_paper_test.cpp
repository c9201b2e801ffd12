// Numbers of Desbrun, Cani 1997, as corrected and measured for us: curvature,
// shrinking balls, six blobs that become two, what an evolution law holds.

#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "derm/implicit/active_skin.h"
#include "derm/implicit/build_potential.h"
#include "derm/implicit/shape_targets.h"

#include "implicit/band_stepper.h"

namespace derm::skin_paper_test {
namespace {

constexpr double kForever = 1e9;

ActiveSkin skinOf(const Target& target, double voxel_m, const EvolutionLaw& law,
                  const Vec3d& origin = Vec3d::Zero()) {
  Result<Potential> p = buildPotential(target, {.voxel_m = voxel_m, .origin = origin});
  EXPECT_TRUE(p.ok()) << p.error().text();
  Result<ActiveSkin> skin = ActiveSkin::make(*std::move(p), law);
  EXPECT_TRUE(skin.ok());
  return *std::move(skin);
}

/// Mean and deviation of the vertices' distance from a centre.
struct Radii {
  double mean = 0, deviation = 0;
};
Radii radiiOf(ActiveSkin& skin, const Vec3d& centre) {
  TriMesh mesh;
  skin.polygonise(mesh, false);
  double sum = 0, squares = 0;
  for (const Vec3f& p : mesh.positions) {
    const double r = (p.cast<double>() - centre).norm();
    sum += r;
    squares += r * r;
  }
  const double n = static_cast<double>(mesh.vertexCount());
  return {sum / n, std::sqrt(std::max(0.0, squares / n - sum / n * sum / n))};
}

/// Mean and greatest |G - iso| at the vertices.
std::pair<double, double> misfit(ActiveSkin& skin, const Target& target) {
  TriMesh mesh;
  skin.polygonise(mesh, false);
  double sum = 0, max = 0;
  for (const Vec3f& p : mesh.positions) {
    const double d = std::abs(sampledAt(target, p.cast<double>()) - target.iso());
    sum += d;
    max = std::max(max, d);
  }
  return {sum / static_cast<double>(mesh.vertexCount()), max};
}

TEST(SkinPaper, CurvatureOfABallIsTheSumOfBothPrincipalOnes) {
  // r = 0.6 on 40^3 over [-1, 1]^3: kappa r = 2 (1.9963 .. 2.0014 with exact distances).
  const double h = 2.0 / 39;
  const Result<Potential> p =
      buildPotential(SphereTarget(Vec3d::Zero(), 0.6), {.voxel_m = h, .origin = Vec3d(-1, -1, -1)});
  ASSERT_TRUE(p.ok());
  // Exact distances, as the measurement had.
  Potential exact = *p;
  for (const std::uint32_t slot : exact.grid.order()) {
    const BlockCoord& b = exact.grid.coord(slot);
    for (int i = 0; i < 512; ++i) {
      const Vec3d at =
          exact.nodePosition(8 * b.x + (i & 7), 8 * b.y + (i >> 3 & 7), 8 * b.z + (i >> 6));
      exact.grid.values(slot)[i] =
          std::clamp(static_cast<float>((0.6 - at.norm()) / h), -2.5f, 2.5f);
    }
    exact.grid.updateWords(slot);
  }
  detail::BandStepper stepper;
  stepper.prepare(exact.grid);
  std::vector<float> curvature;
  stepper.findCurvature(exact.grid, curvature);
  double sum = 0, low = 10, high = 0;
  int count = 0;
  for (const std::uint32_t slot : exact.grid.order()) {
    const BlockCoord& b = exact.grid.coord(slot);
    for (int z = 0; z < 8; ++z)
      detail::forEachBit(stepper.near(slot)[static_cast<std::size_t>(z)], [&](int bit) {
        const double r =
            exact.nodePosition(8 * b.x + (bit & 7), 8 * b.y + (bit >> 3), 8 * b.z + z).norm();
        const double kr = curvature[512 * slot + std::size_t(64 * z + bit)] / h * r;
        sum += kr;
        low = std::min(low, kr);
        high = std::max(high, kr);
        ++count;
      });
  }
  std::printf("kappa r = %.4f (%.4f .. %.4f), 2 expected\n", sum / count, low, high);
  EXPECT_NEAR(sum / count, 2.0, 0.002);
  EXPECT_GT(low, 1.99);
  EXPECT_LT(high, 2.01);
}

TEST(SkinPaper, ABallShrinksAsRootOfR0SquaredMinus4BetaT) {
  const EvolutionLaw tension{.attraction = 0, .tension = 0.05};
  const SphereTarget ball(Vec3d(0.011, 0.007, -0.013), 0.6);
  ActiveSkin skin = skinOf(ball, 2.0 / 39, tension);
  while (skin.time_s() < 1.052) skin.step(ball, 1.052 - skin.time_s() + 1e-12);
  const double exact = std::sqrt(0.36 - 4 * 0.05 * skin.time_s());
  const Radii r = radiiOf(skin, Vec3d(0.011, 0.007, -0.013));
  std::printf("r = %.4f (%.4f expected), deviation %.4f\n", r.mean, exact, r.deviation);
  EXPECT_NEAR(r.mean, exact, 0.002);
}

TEST(SkinPaper, ASlowlyShrinkingBallGoesTheRightWay) {
  // 3,000 steps of beta dt = 1e-3 voxel^2 from r0 = 14 voxels: distance over the exact one 1.004.
  const EvolutionLaw tension{.attraction = 0, .tension = 1.0};
  const SphereTarget ball(Vec3d(24.3, 24.2, 24.1), 14);
  ActiveSkin skin = skinOf(ball, 1.0, tension);
  const double start = radiiOf(skin, Vec3d(24.3, 24.2, 24.1)).mean;
  for (int i = 0; i < 3000; ++i) skin.step(ball, 1e-3);
  const double gone = start - radiiOf(skin, Vec3d(24.3, 24.2, 24.1)).mean;
  const double exact = start - std::sqrt(start * start - 4 * 3.0);
  std::printf("slow: distance/exact = %.4f\n", gone / exact);
  EXPECT_NEAR(gone / exact, 1.0, 0.02);
}

TEST(SkinPaper, TensionAndAttractionBalanceWhereTheyShould) {
  // alpha 1, beta 2, R 12 voxels: (R - r) = 2 beta/(alpha r).
  const EvolutionLaw desc{.attraction = 1, .tension = 2};
  const SphereTarget ball(Vec3d(24.3, 24.2, 24.1), 12);
  ActiveSkin skin = skinOf(ball, 1.0, desc);
  for (int i = 0; i < 600; ++i) skin.step(ball, kForever);
  const double exact = 6 + std::sqrt(36.0 - 4);
  const Radii r = radiiOf(skin, Vec3d(24.3, 24.2, 24.1));
  std::printf("equilibrium error %.4f, deviation %.4f voxel\n", r.mean - exact, r.deviation);
  // Unclamped |R - r| = 0.34 is within the reach of 2 voxels.
  EXPECT_NEAR(r.mean, exact, 0.012);
  EXPECT_LT(r.deviation, 0.01);
}

TEST(SkinPaper, SectionFourPointThreeTwo_EdgePointsAreFarCloserThanNodes) {
  // Ball r = 0.45, 40^3, alpha 2, beta 0, 200 steps; started from a larger one.
  const SphereTarget start(Vec3d::Zero(), 0.6), target(Vec3d::Zero(), 0.45);
  double error[2];
  for (const Evaluation e : {Evaluation::EdgePoints, Evaluation::Nodes}) {
    EvolutionLaw desc{.attraction = 2};
    desc.evaluation = e;
    ActiveSkin skin = skinOf(start, 2.0 / 39, desc, Vec3d(-1, -1, -1));
    for (int i = 0; i < 200; ++i) skin.step(target, kForever);
    error[e == Evaluation::Nodes] = misfit(skin, target).first / (2.0 / 39);
  }
  std::printf("mean error in voxels: edge points %.5f, nodes %.5f\n", error[0], error[1]);
  EXPECT_LT(error[0], 0.0013);
  EXPECT_GT(error[1], 20 * error[0]);
}

struct MorphResult {
  int steps_to_split = -1;
  double mean = 0, max = 0, radius = 0, last_move = 0, volume = 0;
  SurfaceMeasures end;
  std::vector<SkinEvent> events;
};

/// Six blobs become two, `steps` steps of the paper's own field.
MorphResult morph(int resolution, double tension, int steps) {
  EvolutionLaw desc{.attraction = 2, .tension = tension};
  desc.raw_field = true;
  desc.reach = 1e6;
  const BlobTarget start = sixBlobs(), target = twoBlobs();
  ActiveSkin skin = skinOf(start, 2.0 / (resolution - 1), desc, Vec3d(-1, -1, -1));
  MorphResult result;
  TriMesh mesh;
  for (int i = 0; i < steps; ++i) {
    const SkinStep s = skin.step(target, kForever);
    result.last_move = s.max_speed * s.dt_s;
    if (result.steps_to_split < 0 && skin.bodies().size() == 2) result.steps_to_split = i;
  }
  std::tie(result.mean, result.max) = misfit(skin, target);
  skin.polygonise(mesh, false);
  result.end = measured(mesh);
  double sum = 0;
  for (const Vec3f& p : mesh.positions)
    sum += (p.cast<double>() - Vec3d(p.x() > 0 ? 0.5 : -0.5, 0, 0)).norm();
  result.radius = sum / static_cast<double>(mesh.vertexCount());
  for (const Body& b : skin.bodies()) result.volume += b.true_volume;
  result.events = skin.events();
  return result;
}

TEST(SkinPaper, Fig7_SixBlobsBecomeTwoBalls) {
  for (const int resolution : {40, 50}) {
    const MorphResult m = morph(resolution, 0, 240);
    std::printf("%d^3, beta 0: split at step %d, mean %.2e, max %.2e |G - iso|, V/target %.4f\n",
                resolution, m.steps_to_split, m.mean, m.max,
                m.volume / (2 * 4.0 / 3 * M_PI * 0.027));
    EXPECT_EQ(m.end.euler_number, 4);
    EXPECT_EQ(m.end.pieces.size(), 2u);
    EXPECT_GE(m.steps_to_split, 0);
    EXPECT_LE(m.steps_to_split, 60);
    EXPECT_LE(m.mean, 2e-4);
    EXPECT_LE(m.max, 1e-3);
    EXPECT_NEAR(m.volume / (2 * 4.0 / 3 * M_PI * 0.027), 1, 0.01);
    int bodies = 1;
    for (const SkinEvent& e : m.events) {
      std::printf("  t = %.3f: %s\n", e.time_s, name(e.kind));
      bodies += e.kind == SkinEventKind::Split || e.kind == SkinEventKind::Birth;
      bodies -= e.kind == SkinEventKind::Merge || e.kind == SkinEventKind::Death;
    }
    EXPECT_EQ(bodies, 2);
    ASSERT_FALSE(m.events.empty());
    EXPECT_EQ(m.events[0].kind, SkinEventKind::Split);
  }
}

TEST(SkinPaper, Fig7_WithTensionTheBallsAreAsMuchSmallerAsItSays) {
  for (const int resolution : {40, 50}) {
    const MorphResult m = morph(resolution, 0.01, 240);
    std::printf("%d^3, beta 0.01: r = %.4f (0.2868 expected), last move %.1e voxel\n", resolution,
                m.radius, m.last_move * (resolution - 1) / 2);
    EXPECT_NEAR(m.radius, 0.2868, 0.002);
    EXPECT_EQ(m.end.euler_number, 4);
    EXPECT_LE(m.steps_to_split, 60);
  }
}

TEST(SkinPaper, PenaltiesReachTheirVolumeAndArea) {
  // No attraction, gamma 0.5, wanted 1.2 times the start, t = 8.
  for (const bool area : {false, true}) {
    EvolutionLaw desc{.attraction = 0};
    (area ? desc.area : desc.volume) = Hold::Penalty;
    desc.volume_gain = desc.area_gain = 0.5;
    const SphereTarget ball(Vec3d::Zero(), 0.4);
    ActiveSkin skin = skinOf(ball, 0.05, desc);
    skin.setWantedScale(1.2, 1.2);
    const Body start = skin.bodies().at(0);
    while (skin.time_s() < 8) skin.step(ball, 0.02);
    const Body end = skin.bodies().at(0);
    EXPECT_NEAR(area ? end.area / start.area : end.volume / start.volume, 1.2, 2e-3);
  }
}

TEST(SkinPaper, ExactVolumeHoldsAgainstAttractionAndTension) {
  EvolutionLaw desc{.attraction = 2, .tension = 0.02};
  const SphereTarget start(Vec3d::Zero(), 0.5);
  const SegmentTarget target(Vec3d(-0.3, 0, 0), Vec3d(0.3, 0.1, 0), 0.3);
  for (const Hold hold : {Hold::Penalty, Hold::Exact}) {
    desc.volume = hold;
    desc.volume_gain = 10;
    ActiveSkin skin = skinOf(start, 0.05, desc);
    for (int i = 0; i < 400; ++i) skin.step(target, kForever);
    const Body b = skin.bodies().at(0);
    std::printf("%s: V/V0 - 1 = %.2e\n", hold == Hold::Exact ? "exact" : "penalty",
                b.volume / b.wanted_volume - 1);
    if (hold == Hold::Exact)
      EXPECT_NEAR(b.volume / b.wanted_volume, 1, 1e-6);
    else
      EXPECT_NEAR(b.volume / b.wanted_volume, 1, 0.1);
  }
}

}  // namespace
}  // namespace derm::skin_paper_test
