#include "derm/implicit/active_skin.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

#include <gtest/gtest.h>

#include "derm/implicit/build_potential.h"
#include "derm/implicit/potential_target.h"
#include "derm/implicit/shape_targets.h"
#include "derm/implicit/skin_report.h"
#include "derm/mesh/closedness.h"

namespace derm::active_skin_test {
namespace {

constexpr double kForever = 1e9;

ActiveSkin skinOf(const Target& target, const EvolutionLaw& law, double voxel_m = 1.0) {
  Result<Potential> p = buildPotential(target, {.voxel_m = voxel_m});
  EXPECT_TRUE(p.ok()) << p.error().text();
  return *ActiveSkin::make(*std::move(p), law);
}

/// A ball with a hollow in it.
class Shell final : public LipschitzTarget {
 public:
  explicit Shell(double hollow) : hollow_(hollow) {}
  void sample(const SampleBatch& at, std::span<float> g) const noexcept override {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Vec3d p = at.origin + Vec3f(at.x[i], at.y[i], at.z[i]).cast<double>();
      g[i] = float(std::min(14 - p.norm(), (p - Vec3d(2, 1, 0)).norm() - hollow_));
    }
  }
  Box3d bounds() const override { return {Vec3d::Constant(-14), Vec3d::Constant(14)}; }

 private:
  double hollow_;
};

TEST(ActiveSkin, RefusesLawsThatMakeNoSenseAndNamesTheField) {
  const Potential p = *buildPotential(SphereTarget(Vec3d::Zero(), 5), {.voxel_m = 1});
  const auto message = [&](const EvolutionLaw& desc) {
    const Result<ActiveSkin> skin = ActiveSkin::make(p, desc);
    return skin.ok() ? std::string("ok") : skin.error().text();
  };
  EXPECT_EQ(message({}), "ok");
  EXPECT_NE(message({.attraction = -1}).find("attraction"), std::string::npos);
  EXPECT_NE(message({.tension = std::nan("")}).find("tension"), std::string::npos);
  EvolutionLaw odd;
  odd.super_steps = 4;
  EXPECT_NE(message(odd).find("super_steps"), std::string::npos);
  odd = {};
  odd.inertia.damping = std::numeric_limits<double>::infinity();
  EXPECT_NE(message(odd).find("inertia.damping"), std::string::npos);
}

TEST(ActiveSkin, FindsCavitiesAndTakesThemOffTheVolume) {
  const Shell shell(5);
  ActiveSkin skin = skinOf(shell, {.attraction = 2, .volume = Hold::Exact});
  ASSERT_EQ(skin.bodies().size(), 1u);
  const Body body = skin.bodies()[0];
  EXPECT_EQ(body.cavities, 1);
  EXPECT_EQ(body.euler_number, 2);
  EXPECT_NEAR(body.true_volume / (4.0 / 3 * M_PI * (14.0 * 14 * 14 - 125)), 1, 0.01);
  for (int i = 0; i < 60; ++i) skin.step(shell, kForever);
  EXPECT_TRUE(skin.events().empty());
  EXPECT_NEAR(skin.bodies()[0].volume / skin.bodies()[0].wanted_volume, 1, 1e-5);
  // The hollow closes: an event, and one surface less.
  EvolutionLaw free{.attraction = 2};
  ASSERT_TRUE(skin.setLaw(free).ok());
  for (int i = 0; i < 120; ++i) skin.step(SphereTarget(Vec3d::Zero(), 14), kForever);
  EXPECT_EQ(skin.bodies()[0].cavities, 0);
  ASSERT_EQ(skin.events().size(), 1u);
  EXPECT_EQ(skin.events()[0].kind, SkinEventKind::CavityClosed);
}

TEST(ActiveSkin, TellsWhenAHoleOpensAndCloses) {
  const TorusTarget ring(Vec3d(0.3, 0.2, 0.1), 10, 4);
  const SphereTarget ball(Vec3d(0.3, 0.2, 0.1), 10);
  ActiveSkin skin = skinOf(ball, {.attraction = 2, .tension = 0.3});
  // A membrane may tear at several places at once; what counts is the balance.
  const auto handles = [&] {
    int open = 0;
    for (const SkinEvent& e : skin.events()) {
      open += e.kind == SkinEventKind::HoleOpened;
      open -= e.kind == SkinEventKind::HoleClosed;
    }
    return open;
  };
  for (int i = 0; i < 100; ++i) skin.step(ring, kForever);
  EXPECT_EQ(skin.bodies().at(0).euler_number, 0);
  EXPECT_EQ(handles(), 1);
  for (int i = 0; i < 100; ++i) skin.step(ball, kForever);
  EXPECT_EQ(skin.bodies().at(0).euler_number, 2);
  EXPECT_EQ(handles(), 0);
}

TEST(ActiveSkin, IsBornWhereTheTargetIsAndNoSkinIsNear) {
  const SphereTarget here(Vec3d::Zero(), 6), there(Vec3d(100, 40, -30), 6);
  ActiveSkin skin = skinOf(here, {.attraction = 2});
  ASSERT_TRUE(skin.advance(there, 8).ok());
  ASSERT_EQ(skin.bodies().size(), 1u);
  EXPECT_NEAR(skin.bodies()[0].true_volume / (4.0 / 3 * M_PI * 216), 1, 0.01);
  EXPECT_TRUE(skin.potential().contactAt(Vec3d(100, 40, -30)).inside);
  bool born = false, died = false;
  for (const SkinEvent& e : skin.events()) {
    born |= e.kind == SkinEventKind::Birth;
    died |= e.kind == SkinEventKind::Death;
  }
  EXPECT_TRUE(born && died);
}

TEST(ActiveSkin, IsBornOnceInEveryPartOfATargetItHasNotReached) {
  // A potential has seeds all over; a ring is one part however long, and a reached one needs none.
  const auto ring = std::make_shared<TorusTarget>(Vec3d(0.3, 0.2, 0.1), 20, 6);
  const auto ball = std::make_shared<SphereTarget>(Vec3d(60.3, 0.2, 0.1), 8);
  const auto both =
      std::make_shared<const Potential>(*buildPotential(UnionTarget({ring, ball}), {.voxel_m = 1}));
  ActiveSkin skin = skinOf(SphereTarget(Vec3d(100, 40, 0), 6), {.attraction = 2});
  const auto births = [&] {
    return std::count_if(skin.events().begin(), skin.events().end(),
                         [](const SkinEvent& e) { return e.kind == SkinEventKind::Birth; });
  };
  ASSERT_TRUE(skin.advance(PotentialTarget(both), 50).ok());
  EXPECT_EQ(births(), 2);
  ASSERT_EQ(skin.bodies().size(), 2u);
  EXPECT_EQ(skin.bodies()[0].euler_number + skin.bodies()[1].euler_number, 2);
  // On the way back only what has been lost is born again: from a ball to the blobs it overlaps.
  ActiveSkin grown = skinOf(SphereTarget(Vec3d(0.38, 0, 0), 0.25), {.attraction = 2}, 0.04);
  ASSERT_TRUE(grown.advance(sixBlobs(), 4).ok());
  EXPECT_TRUE(grown.events().empty());
  EXPECT_EQ(grown.bodies().size(), 1u);
}

TEST(ActiveSkin, SaysSoWhereItCanOnlyVanish) {
  class Seedless final : public LipschitzTarget {
   public:
    void sample(const SampleBatch& at, std::span<float> g) const noexcept override {
      SphereTarget(Vec3d(100, 0, 0), 6).sample(at, g);
    }
    Box3d bounds() const override { return {Vec3d(94, -6, -6), Vec3d(106, 6, 6)}; }
  };
  ActiveSkin skin = skinOf(SphereTarget(Vec3d::Zero(), 6), {.attraction = 2});
  const Result<SkinStep> gone = skin.advance(Seedless(), 20);
  ASSERT_FALSE(gone.ok());
  EXPECT_NE(gone.error().text().find("does not overlap"), std::string::npos);
  EXPECT_FALSE(skin.advance(BlobTarget({}), 1).ok());
  EXPECT_FALSE(skin.advance(SphereTarget(Vec3d::Zero(), 6), std::nan("")).ok());
}

TEST(ActiveSkin, SurvivesATargetThatIsNotANumber) {
  class Odd final : public Target {
   public:
    void sample(const SampleBatch& at, std::span<float> g) const noexcept override {
      for (std::size_t i = 0; i < at.size(); ++i)
        g[i] = i % 3 == 0 ? std::numeric_limits<float>::quiet_NaN()
                          : std::numeric_limits<float>::infinity();
    }
    Box3d bounds() const override { return {Vec3d::Constant(-6), Vec3d::Constant(6)}; }
  };
  ActiveSkin skin = skinOf(SphereTarget(Vec3d::Zero(), 6), {.attraction = 2, .tension = 0.1});
  for (int i = 0; i < 20; ++i) skin.step(Odd(), kForever);
  TriMesh mesh;
  skin.polygonise(mesh);
  for (const Vec3f& p : mesh.positions) EXPECT_TRUE(p.allFinite());
}

/// A ball whose matter flies away at a speed [m/s].
class FlyingBall final : public Target {
 public:
  explicit FlyingBall(float speed) : speed_(speed) {}
  void sample(const SampleBatch& at, std::span<float> g) const noexcept override {
    ball_.sample(at, g);
  }
  Box3d bounds() const override { return ball_.bounds(); }
  bool moves() const override { return true; }
  void sampleVelocity(const SampleBatch&, std::span<Vec3f> out) const noexcept override {
    for (Vec3f& v : out) v = Vec3f(speed_, 0, 0);
  }

 private:
  SphereTarget ball_{Vec3d::Zero(), 6};
  float speed_;
};

TEST(ActiveSkin, SaysWhatIsTooFastInsteadOfSteppingForEver) {
  for (const float speed : {1e9f, 1e30f, 3e38f}) {
    ActiveSkin skin = skinOf(SphereTarget(Vec3d::Zero(), 6), {.attraction = 2});
    const Result<SkinStep> flown = skin.advance(FlyingBall(speed), 1);
    ASSERT_FALSE(flown.ok());
    EXPECT_EQ(flown.error().where.element, "target");
    EXPECT_NE(flown.error().message.find("m/s"), std::string::npos) << flown.error().message;
  }
  ActiveSkin slow = skinOf(SphereTarget(Vec3d::Zero(), 6), {.attraction = 2});
  EXPECT_TRUE(slow.advance(FlyingBall(0.5f), 1).ok());
  ActiveSkin eager = skinOf(SphereTarget(Vec3d::Zero(), 6), {.attraction = 1e12});
  EXPECT_EQ(eager.advance(SphereTarget(Vec3d::Zero(), 6), 1).error().where.element, "attraction");
  ActiveSkin tense = skinOf(SphereTarget(Vec3d::Zero(), 6), {.tension = 1e12});
  EXPECT_EQ(tense.advance(SphereTarget(Vec3d::Zero(), 6), 1).error().where.element, "tension");
  EvolutionLaw inert{.attraction = 0};
  inert.inertia = {.on = true, .tension = 1e20};
  ActiveSkin stiff = skinOf(SphereTarget(Vec3d::Zero(), 6), inert);
  EXPECT_EQ(stiff.advance(SphereTarget(Vec3d::Zero(), 6), 1).error().where.element, "inertia");
}

TEST(ActiveSkin, WhatADyingDropHeldGoesToTheNearestBodyOrIsLost) {
  const UnionTarget both({std::make_shared<SphereTarget>(Vec3d(0.3, 0.2, 0.1), 8),
                          std::make_shared<SphereTarget>(Vec3d(14.3, 0.2, 0.1), 2.4)});
  for (const bool inherit : {true, false}) {
    EvolutionLaw desc{.attraction = 0, .tension = 0.1, .volume = Hold::Exact};
    desc.min_body_voxels = 80;
    desc.inherit_volume = inherit;
    ActiveSkin skin = skinOf(both, desc);
    ASSERT_EQ(skin.bodies().size(), 2u);
    const double large = skin.bodies()[0].wanted_volume, small = skin.bodies()[1].wanted_volume;
    for (int i = 0; i < 40; ++i) skin.step(both, kForever);
    ASSERT_EQ(skin.bodies().size(), 1u);
    ASSERT_EQ(skin.events().size(), 1u);
    EXPECT_EQ(skin.events()[0].kind, SkinEventKind::Death);
    const Body left = skin.bodies()[0];
    EXPECT_NEAR(left.wanted_volume, large + (inherit ? small : 0), 1e-9 * large);
    EXPECT_NEAR(left.volume / left.wanted_volume, 1, 1e-5);
  }
}

TEST(ActiveSkin, FollowsATargetThatJumpsFurtherThanItsBandReaches) {
  ActiveSkin skin = skinOf(SphereTarget(Vec3d::Zero(), 6), {.attraction = 4});
  for (int jump = 1; jump <= 12; ++jump) {
    const Vec3d at(30.0 * jump, 7.0 * jump, -11.0 * jump);
    ASSERT_TRUE(skin.advance(SphereTarget(at, 6), 4).ok());
    ASSERT_EQ(skin.bodies().size(), 1u);
    EXPECT_NEAR(skin.bodies()[0].true_volume / (4.0 / 3 * M_PI * 216), 1, 0.01);
    EXPECT_TRUE(skin.potential().contactAt(at).inside);
  }
  EXPECT_LT(skin.potential().grid.blockCount(), 64u);
}

TEST(ActiveSkin, HoldsVolumeAndAreaTogetherWhereTheShapeLeavesRoom) {
  // A long body has more area than a ball of its volume: both can be held against a tension that
  // would shorten it.
  const SegmentTarget start(Vec3d(-9, 0.2, 0.1), Vec3d(9, 0.2, 0.1), 7);
  const SegmentTarget& target = start;
  EvolutionLaw desc{.attraction = 0.3, .tension = 2, .volume = Hold::Exact, .area = Hold::Exact};
  ActiveSkin skin = skinOf(start, desc);
  for (int i = 0; i < 400; ++i) skin.step(target, kForever);
  const Body b = skin.bodies().at(0);
  EXPECT_NEAR(b.volume / b.wanted_volume, 1, 1e-4);
  EXPECT_NEAR(b.area / b.wanted_area, 1, 2e-3);
}

TEST(ActiveSkin, HoldsItsAreaAlone) {
  EvolutionLaw desc{.attraction = 1, .tension = 0.1, .area = Hold::Exact};
  ActiveSkin skin = skinOf(SphereTarget(Vec3d(0.3, 0.2, 0.1), 9), desc);
  const SegmentTarget target(Vec3d(-6, 0, 0), Vec3d(6, 0, 0), 6);
  for (int i = 0; i < 300; ++i) skin.step(target, kForever);
  const Body b = skin.bodies().at(0);
  EXPECT_NEAR(b.area / b.wanted_area, 1, 3e-4);
}

TEST(ActiveSkin, SleepsAtRestAndWakesWhenTheTargetMoves) {
  const SphereTarget ball(Vec3d(0.3, 0.2, 0.1), 9), larger(Vec3d(0.3, 0.2, 0.1), 9.5);
  ActiveSkin skin = skinOf(ball, {.attraction = 1});
  bool asleep = false;
  for (int i = 0; i < 2000 && !asleep; ++i) asleep = skin.step(ball, kForever).asleep;
  EXPECT_TRUE(asleep);
  const std::uint64_t before = skin.potential().grid.activeCount();
  EXPECT_FALSE(skin.step(larger, kForever).asleep);
  for (int i = 0; i < 30; ++i) skin.step(larger, kForever);
  EXPECT_GT(skin.potential().grid.activeCount(), before);
}

TEST(ActiveSkin, GivesVerticesTheirVelocity) {
  const SphereTarget ball(Vec3d(0.3, 0.2, 0.1), 9), larger(Vec3d(0.3, 0.2, 0.1), 10);
  ActiveSkin skin = skinOf(ball, {.attraction = 2});
  TriMesh mesh;
  std::vector<Vec3f> velocities;
  skin.polygonise(larger, mesh, velocities);
  ASSERT_EQ(velocities.size(), mesh.vertexCount());
  for (std::size_t v = 0; v < velocities.size(); ++v)
    EXPECT_NEAR(velocities[v].dot(mesh.normals[v]), 2, 0.1);  // alpha x 1 voxel
}

TEST(ActiveSkin, NeedsAtMostSixteenBytesANodeBeyondItsBlocks) {
  const SphereTarget ball(Vec3d(0.3, 0.2, 0.1), 80);
  ActiveSkin skin = skinOf(ball, {.attraction = 2, .tension = 0.1, .volume = Hold::Exact});
  for (int i = 0; i < 4; ++i) skin.step(ball, kForever);
  const double nodes = double(skin.potential().grid.activeCount());
  const double beyond = double(skin.memoryBytes() - skin.blockBytes()) / nodes;
  std::printf("%.1f bytes a node, %.1f of them beyond the blocks\n",
              double(skin.memoryBytes()) / nodes, beyond);
  EXPECT_LE(beyond, 16);
  EXPECT_LE(double(skin.memoryBytes()),
            double(skinBytesPerBlock()) * double(skin.potential().grid.blockCount()) * 1.05);
}

TEST(ActiveSkin, ReportsWhatItIs) {
  const BlobTarget two = twoBlobs();
  ActiveSkin skin = skinOf(two, {.attraction = 2}, 0.05);
  const SkinStep step = skin.step(two, kForever);
  TriMesh mesh;
  skin.polygonise(mesh);
  const SkinRecord r = recorded(skin, mesh, step);
  EXPECT_EQ(r.components, 2u);
  EXPECT_EQ(r.euler_number, 4);
  EXPECT_GT(r.active_nodes, 1000u);
  EXPECT_LT(r.residual_max, 0.01);
}

TEST(ActiveSkin, LiesInOrderAgainAfterALongWayAndKeepsItsBodies) {
  for (const bool inertia : {false, true}) {
    const auto twoBalls = [](double way) {
      const Vec3d at = way * Vec3d(0.8, 0.5, 0.33);
      return UnionTarget({std::make_shared<SphereTarget>(at, 9.0),
                          std::make_shared<SphereTarget>(Vec3d(at + Vec3d(26, 3, 1)), 7.0)});
    };
    EvolutionLaw desc{.attraction = 2, .volume = Hold::Exact};
    desc.inertia = {.on = inertia, .tension = 2, .stiffness = 1, .damping = 0.5};
    ActiveSkin skin = *ActiveSkin::make(*buildPotential(twoBalls(0), {.voxel_m = 1}), desc);
    double before[2], after[2];
    for (std::size_t i = 0; i < 2; ++i) before[i] = skin.bodies()[i].volume;
    bool left_order = false;
    double way = 0;
    for (int i = 0; i < 200; ++i) {
      skin.step(twoBalls(way += 0.1), 0.1);
      left_order |= skin.potential().grid.scattered();
    }
    EXPECT_TRUE(left_order);  // or this test says nothing
    for (int i = 0; i < 40; ++i) skin.step(twoBalls(way), 0.1);
    EXPECT_FALSE(skin.potential().grid.scattered());
    // Labels and velocities went along: the same two bodies, and nothing happened to them.
    EXPECT_TRUE(skin.events().empty());
    ASSERT_EQ(skin.bodies().size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) after[i] = skin.bodies()[i].volume;
    EXPECT_NEAR(after[0] / before[0], 1, 1e-2);
    EXPECT_NEAR(after[1] / before[1], 1, 1e-2);
  }
}

TEST(ActiveSkin, WhereNothingIsWantedPenaltiesStayFinite) {
  const SphereTarget ball(Vec3d::Zero(), 8);
  for (const double gain : {0.0, 0.5}) {
    EvolutionLaw law{.attraction = 0, .volume = Hold::Penalty, .area = Hold::Penalty};
    law.volume_gain = law.area_gain = gain;
    ActiveSkin skin = skinOf(ball, law);
    skin.step(ball, 0.01);
    const double before = skin.bodies().at(0).volume;
    skin.setWantedScale(0, 0);
    for (int i = 0; i < 10; ++i) skin.step(ball, 0.01);
    ASSERT_EQ(skin.bodies().size(), 1u) << gain;
    const double after = skin.bodies().at(0).volume;
    if (gain > 0)
      EXPECT_LT(after, before);
    else
      EXPECT_NEAR(after / before, 1, 1e-4);
  }
}

}  // namespace
}  // namespace derm::active_skin_test
