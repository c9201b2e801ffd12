// The thresholds the scheme was settled with: stability over a grid of parameters, volume through
// splits and merges, the frequency of a swinging drop. Long runs.

#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/implicit/active_skin.h"
#include "derm/implicit/build_potential.h"
#include "derm/implicit/particle_target.h"
#include "derm/implicit/shape_targets.h"

#include "implicit/band_stepper.h"

namespace derm::skin_slow_test {
namespace {

constexpr double kForever = 1e9;

ActiveSkin skinOf(const Target& target, const EvolutionLaw& law) {
  Result<Potential> p = buildPotential(target, {.voxel_m = 1.0});
  EXPECT_TRUE(p.ok());
  return *ActiveSkin::make(*std::move(p), law);
}

/// Another target's distance, steeper or flatter; the skin is told so and must not care.
class Scaled final : public Target {
 public:
  Scaled(std::shared_ptr<const Target> inner, float factor)
      : inner_(std::move(inner)), factor_(factor) {}
  void sample(const SampleBatch& at, std::span<float> g) const noexcept override {
    inner_->sample(at, g);
    for (float& v : g) v = factor_ * (v - float(inner_->iso()));
  }
  double slope() const override { return factor_ * inner_->slope(); }
  Box3d bounds() const override { return inner_->bounds(); }

 private:
  std::shared_ptr<const Target> inner_;
  float factor_;
};

/// A flat cylinder 3 voxels thick with a sharp rim.
class DiscTarget final : public LipschitzTarget {
 public:
  void sample(const SampleBatch& at, std::span<float> g) const noexcept override {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const float x = at.x[i] + float(at.origin.x()) - 24.3f,
                  y = at.y[i] + float(at.origin.y()) - 24.2f,
                  z = at.z[i] + float(at.origin.z()) - 24.1f;
      g[i] = std::min(12 - std::sqrt(x * x + z * z), 1.5f - std::abs(y));
    }
  }
  Box3d bounds() const override { return {Vec3d(12, 22.7, 12), Vec3d(36.5, 25.8, 36.5)}; }
};

std::shared_ptr<const Target> targetNumber(int which, int step) {
  const Vec3d c(24.3, 24.2, 24.1);
  if (which == 0) return std::make_shared<SphereTarget>(c, 10);
  if (which == 1)
    return std::make_shared<UnionTarget>(std::vector<std::shared_ptr<const Target>>{
        std::make_shared<SphereTarget>(c - Vec3d(9, 0, 0), 6.5),
        std::make_shared<SphereTarget>(c + Vec3d(9, 0, 0), 6.5)});
  if (which == 2) return std::make_shared<DiscTarget>();
  Rng rng(11);
  Particles p;
  for (int i = 0; i < 40; ++i) {
    const Vec3d at = c + Vec3d(rng.uniform(-8, 8), rng.uniform(-8, 8), rng.uniform(-8, 8));
    const Vec3d way(rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1, 1));
    p.positions.push_back(Vec3d(at + 0.02 * step * way).cast<float>());
  }
  return std::make_shared<ParticleTarget>(*ParticleTarget::make(p, {.radius_m = 2}));
}

/// True where a run settles: the last move is small and the band sound.
bool settles(double alpha, double beta, float slope, int which, int super_steps) {
  EvolutionLaw desc{.attraction = alpha, .tension = beta};
  desc.super_steps = super_steps;
  desc.births = false;
  desc.track_bodies = false;
  const SphereTarget start(Vec3d(24.3, 24.2, 24.1), 12);
  ActiveSkin skin = skinOf(start, desc);
  std::shared_ptr<const Target> target = targetNumber(which, 0);
  SkinStep last;
  for (int i = 0; i < 200; ++i) {
    if (which == 3) target = targetNumber(which, i);
    last = skin.step(Scaled(target, slope), kForever);
  }
  if (skin.potential().grid.blockCount() == 0) return beta > alpha;  // small bodies may vanish
  for (const std::uint32_t slot : skin.potential().grid.order())
    for (std::size_t i = 0; i < BandGrid::kNodes; ++i)
      if (!(std::abs(skin.potential().grid.values(slot)[i]) <= 2.5f)) return false;
  if (which == 3) return skin.potential().grid.blockCount() < 400;  // moving: no blow-up
  // Of five super steps, which make 10.9 stable ones, the shortest is half of one.
  const double dt = super_steps > 1 ? last.dt_s * 0.51 / 10.9 : last.dt_s;
  return beta > alpha / 2 || last.max_speed * dt <= 0.05;
}

void runGrid(int super_steps) {
  int failed = 0, runs = 0;
  for (const double alpha : {0.1, 1.0, 10.0})
    for (const double beta : {0.0, 0.01, 0.1, 0.5, 5.0})
      for (const float slope : {0.2f, 1.0f, 5.0f})
        for (int which = 0; which < 4; ++which) {
          ++runs;
          if (settles(alpha, beta, slope, which, super_steps)) continue;
          ++failed;
          std::printf("not settled: alpha %g beta %g slope %g target %d\n", alpha, beta,
                      double{slope}, which);
        }
  std::printf("super steps %d: %d of %d settled\n", super_steps, runs - failed, runs);
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(runs, 180);
}

TEST(SkinScheme, All180ParameterRunsSettle) { runGrid(1); }
TEST(SkinScheme, All180ParameterRunsSettleWithSuperTimeStepping) { runGrid(5); }

/// Two lobes pulled apart and together again: ten splits and ten merges in 5,000 steps.
TEST(SkinScheme, VolumeIsHeldThroughTwentySplitsAndMergesWithoutDrift) {
  EvolutionLaw desc{.attraction = 1, .tension = 0.1, .volume = Hold::Exact};
  const Vec3d c(36.3, 36.2, 36.1);
  const auto lobes = [&](double gap) {
    return UnionTarget({std::make_shared<SphereTarget>(c - Vec3d(gap, 0, 0), 11),
                        std::make_shared<SphereTarget>(c + Vec3d(gap, 0, 0), 8)},
                       2.0);
  };
  ActiveSkin skin = skinOf(lobes(6), desc);
  const double wanted = skin.bodies().at(0).wanted_volume;
  double worst = 0, worst_body = 0, worst_cycle[2] = {0, 0};
  int last_event = -100;
  std::size_t events = 0;
  for (int i = 0; i < 5000; ++i) {
    const double gap = 9.5 - 3.5 * std::cos(2 * M_PI * i / 500.0);
    skin.step(lobes(gap), 0.4);
    if (skin.events().size() != events) last_event = i;
    events = skin.events().size();
    double volume = 0, held = 0;
    for (const Body& b : skin.bodies()) {
      volume += b.volume;
      held += b.wanted_volume;
      if (i > last_event + 5)
        worst_body = std::max(worst_body, std::abs(b.volume / b.wanted_volume - 1));
    }
    EXPECT_NEAR(held / wanted, 1, 1e-9);
    if (i > last_event + 5) worst = std::max(worst, std::abs(volume / wanted - 1));
    const double now = std::abs(volume / wanted - 1);
    if (i >= 1000 && i < 1500) worst_cycle[0] = std::max(worst_cycle[0], now);
    if (i >= 4500) worst_cycle[1] = std::max(worst_cycle[1], now);
  }
  int splits = 0, merges = 0;
  for (const SkinEvent& e : skin.events()) {
    splits += e.kind == SkinEventKind::Split;
    merges += e.kind == SkinEventKind::Merge;
  }
  std::printf(
      "%d splits, %d merges; V/V0 - 1 worst %.1e in all, %.1e one body; cycles %.1e, %.1e\n",
      splits, merges, worst, worst_body, worst_cycle[0], worst_cycle[1]);
  EXPECT_GE(splits, 10);
  EXPECT_GE(merges, 9);
  EXPECT_LE(worst, 1e-3);
  EXPECT_LE(worst_body, 1e-3);
  EXPECT_LE(worst_cycle[1], 1.2 * worst_cycle[0] + 1e-6);  // no drift
  for (int i = 0; i < 600; ++i) skin.step(lobes(6), 0.4);
  const Body rest = skin.bodies().at(0);
  std::printf("at rest %.1e\n", rest.volume / rest.wanted_volume - 1);
  EXPECT_NEAR(rest.volume / rest.wanted_volume, 1, 1e-6);
  // Near nodes keep slope one.
  const BandGrid& grid = skin.potential().grid;
  detail::BandStepper stepper;
  stepper.prepare(grid);
  double low = 10, high = 0;
  const auto value = [&](std::uint32_t slot, int x, int y, int z) {
    return double{grid.values(
        grid.neighbour(slot, x >> 3, y >> 3, z >> 3))[(z & 7) * 64 + (y & 7) * 8 + (x & 7)]};
  };
  for (const std::uint32_t slot : grid.order())
    for (int z = 0; z < 8; ++z)
      detail::forEachBit(stepper.near(slot)[static_cast<std::size_t>(z)], [&](int bit) {
        const int x = bit & 7, y = bit >> 3;
        const double slope = 0.5 * Vec3d(value(slot, x + 1, y, z) - value(slot, x - 1, y, z),
                                         value(slot, x, y + 1, z) - value(slot, x, y - 1, z),
                                         value(slot, x, y, z + 1) - value(slot, x, y, z - 1))
                                       .norm();
        low = std::min(low, slope);
        high = std::max(high, slope);
      });
  std::printf("slope at near nodes %.3f .. %.3f\n", low, high);
  EXPECT_GT(low, 0.8);
  EXPECT_LT(high, 1.25);
}

TEST(SkinScheme, AClosedLoopOfTargetsReturnsTheSameVolumeWithoutTension) {
  EvolutionLaw desc{.attraction = 2};
  const Vec3d c(24.3, 24.2, 24.1);
  ActiveSkin skin = skinOf(SphereTarget(c, 9), desc);
  const auto volumeNow = [&] {
    double sum = 0;
    for (const Body& b : skin.bodies()) sum += b.true_volume;
    return sum;
  };
  const double start = volumeNow();
  const auto run = [&](const Target& t) {
    for (int i = 0; i < 150; ++i) skin.step(t, kForever);
  };
  for (int loop = 0; loop < 3; ++loop) {
    run(TorusTarget(c, 10, 4));
    run(SegmentTarget(c - Vec3d(8, 0, 0), c + Vec3d(8, 3, 0), 5));
    run(SphereTarget(c, 9));
  }
  std::printf("V/V0 - 1 = %.1e after three loops\n", volumeNow() / start - 1);
  EXPECT_NEAR(volumeNow() / start, 1, 0.005);
}

TEST(SkinScheme, ASkinTravelsAHundredTimesItsSizeWithConstantMemory) {
  EvolutionLaw desc{.attraction = 2, .tension = 0.05, .volume = Hold::Exact};
  ActiveSkin skin = skinOf(SphereTarget(Vec3d::Zero(), 5), desc);
  std::size_t early = 0, late = 0;
  double x = 0;
  for (int i = 0; x < 1000; ++i) {
    x += 0.3;
    skin.step(SphereTarget(Vec3d(x, 0.3 * x, 0), 5), 0.225);
    if (x > 100 && early == 0) early = skin.memoryBytes();
    late = skin.memoryBytes();
  }
  EXPECT_LE(late, early + early / 4);
  ASSERT_EQ(skin.bodies().size(), 1u);
  // A ball of five voxels at a third of a voxel a step.
  EXPECT_NEAR(skin.bodies()[0].volume / skin.bodies()[0].wanted_volume, 1, 4e-3);
  EXPECT_LT(std::abs(skin.potential().valueAt(Vec3d(x, 0.3 * x, 0))), 2.6);
  EXPECT_TRUE(skin.potential().contactAt(Vec3d(x, 0.3 * x, 0)).inside);
}

/// Frequency of the second mode of a free drop, from zero crossings of its elongation.
double modeTwoFrequency(double radius, double amplitude) {
  EvolutionLaw desc{.attraction = 0, .volume = Hold::Exact};
  desc.inertia.on = true;
  desc.inertia.tension = 1;
  const Vec3d c(32.3, 32.2, 32.1);
  /// r = R (1 + a P2(cos theta)).
  class Mode final : public Target {
   public:
    Mode(const Vec3d& centre, double r, double a) : c_(centre), r_(r), a_(a) {}
    void sample(const SampleBatch& at, std::span<float> g) const noexcept override {
      for (std::size_t i = 0; i < at.size(); ++i) {
        const Vec3d p = at.origin - c_ + Vec3f(at.x[i], at.y[i], at.z[i]).cast<double>();
        const double r = std::max(p.norm(), 1e-9), u = p.y() / r;
        g[i] = float(r_ * (1 + a_ * 0.5 * (3 * u * u - 1)) - r);
      }
    }
    Box3d bounds() const override {
      return {c_ - Vec3d::Constant(1.3 * r_), c_ + Vec3d::Constant(1.3 * r_)};
    }

   private:
    Vec3d c_;
    double r_, a_;
  };
  const Mode target(c, radius, amplitude);
  ActiveSkin skin = skinOf(target, desc);
  TriMesh mesh;
  const auto elongation = [&] {
    skin.polygonise(mesh, false);
    double yy = 0, all = 0;
    Vec3d mean = Vec3d::Zero();
    for (const Vec3f& p : mesh.positions) mean += p.cast<double>();
    mean /= double(mesh.vertexCount());
    for (const Vec3f& p : mesh.positions) {
      const Vec3d d = p.cast<double>() - mean;
      yy += d.y() * d.y();
      all += d.squaredNorm();
    }
    return yy / all - 1.0 / 3;
  };
  const double formula = std::sqrt(4.0 / (radius * radius));  // (n-1)(n+2) sigma/(m R^2), n = 2
  const double end = 6 * 2 * M_PI / formula;
  double before = elongation(), first = -1, last = -1;
  int crossings = 0;
  while (skin.time_s() < end) {
    const double t0 = skin.time_s();
    skin.step(target, kForever);
    const double now = elongation();
    if (before * now < 0) {
      last = t0 + (skin.time_s() - t0) * before / (before - now);
      if (first < 0) first = last;
      ++crossings;
    }
    before = now;
  }
  const double frequency = M_PI * (crossings - 1) / (last - first);
  const Body b = skin.bodies().at(0);
  std::printf("R %g, amplitude %g: omega/formula %.4f, %d half periods, V error %.1e\n", radius,
              amplitude, frequency / formula, crossings - 1, b.volume / b.wanted_volume - 1);
  return frequency / formula;
}

TEST(SkinScheme, ADropSwingsAsRayleighSays) {
  EXPECT_NEAR(modeTwoFrequency(10, 0.1), 1, 0.03);
  EXPECT_NEAR(modeTwoFrequency(14, 0.06), 1, 0.03);
}

}  // namespace
}  // namespace derm::skin_slow_test
