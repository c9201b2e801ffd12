// Bodies that the target has left: which of them go, which stay, and when. Lengths in voxels.

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "derm/implicit/active_skin.h"
#include "derm/implicit/build_potential.h"
#include "derm/implicit/shape_targets.h"

namespace derm::abandoned_bodies_test {
namespace {

constexpr double kReach = 2, kAttraction = 2;
constexpr double kFullSpeed = kReach * kAttraction;  // [voxel/s] towards a target out of reach

struct Ball {
  Vec3d centre;
  double radius;
};
const Ball kMain{Vec3d(0.2, 0.1, 0.3), 9};

UnionTarget unionOf(const std::vector<Ball>& balls) {
  std::vector<std::shared_ptr<const Target>> parts;
  for (const Ball& b : balls) parts.push_back(std::make_shared<SphereTarget>(b.centre, b.radius));
  return UnionTarget(parts);
}

EvolutionLaw holding() {
  EvolutionLaw desc{.attraction = kAttraction, .volume = Hold::Exact};
  desc.reach = kReach;
  desc.inherit_volume = false;
  desc.births = false;
  return desc;
}

ActiveSkin skinOf(const std::vector<Ball>& balls, const EvolutionLaw& desc) {
  return *ActiveSkin::make(*buildPotential(unionOf(balls), {.voxel_m = 1}), desc);
}

double totalVolume(const ActiveSkin& skin) {
  double sum = 0;
  for (const Body& b : skin.bodies()) sum += b.volume;
  return sum;
}

std::optional<Body> bodyOf(const ActiveSkin& skin, std::uint32_t id) {
  for (const Body& b : skin.bodies())
    if (b.id == id) return b;
  return std::nullopt;
}

/// The smallest body: the one the tests look at.
std::uint32_t smallestOf(const ActiveSkin& skin) {
  const std::vector<Body> bodies = skin.bodies();
  return std::min_element(bodies.begin(), bodies.end(),
                          [](const Body& a, const Body& b) { return a.volume < b.volume; })
      ->id;
}

/// [s] until the smallest is gone; infinity where it is still there after `max_s`.
double timeOfDeath(ActiveSkin& skin, const Target& target, double max_s, double frame_s = 0.05) {
  const std::uint32_t id = smallestOf(skin);
  while (skin.time_s() < max_s) {
    EXPECT_TRUE(skin.advance(target, frame_s).ok());
    if (!bodyOf(skin, id)) return skin.time_s();
  }
  return std::numeric_limits<double>::infinity();
}

TEST(AbandonedBodies, SmallOnesGoAtFullSpeedWhereverTheyAre) {
  const SphereTarget target(kMain.centre, kMain.radius);
  for (const double radius : {2.2, 3.0, 3.7})
    for (const Vec3d& way : {Vec3d(1, 0, 0), Vec3d(-0.6, 0.64, 0.48), Vec3d(0, -0.8, -0.6)}) {
      SCOPED_TRACE(radius);
      ActiveSkin skin =
          skinOf({kMain, {kMain.centre + (kMain.radius + radius + 6) * way, radius}}, holding());
      ASSERT_EQ(skin.bodies().size(), 2u);
      // The last few cubic voxels go at once.
      const double at = timeOfDeath(skin, target, 4 * radius / kFullSpeed);
      EXPECT_GT(at, (radius - 1.5) / kFullSpeed);
      EXPECT_LT(at, (radius + 1) / kFullSpeed);
      ASSERT_EQ(skin.bodies().size(), 1u);
      EXPECT_NEAR(skin.bodies()[0].volume / skin.bodies()[0].wanted_volume, 1, 1e-3);
    }
}

TEST(AbandonedBodies, WhatCouldHoldTheTargetInsideStaysAsItIs) {
  // From a ball of twice the reach on: a target in it may be out of reach of all of its surface.
  const SphereTarget target(kMain.centre, kMain.radius);
  // In frames shorter than a stable step (0.225 s), and longer.
  for (const double frame_s : {0.05, 1.0}) {
    SCOPED_TRACE(frame_s);
    for (const double radius : {4.4, 6.0}) {
      ActiveSkin skin = skinOf({kMain, {Vec3d(30, 0, 0), radius}}, holding());
      const double before = bodyOf(skin, smallestOf(skin))->volume;
      EXPECT_EQ(timeOfDeath(skin, target, 4, frame_s), std::numeric_limits<double>::infinity());
      EXPECT_NEAR(bodyOf(skin, smallestOf(skin))->volume / before, 1, 1e-3);
    }
    ActiveSkin around = skinOf({kMain}, holding());
    const double before = totalVolume(around);
    EXPECT_EQ(timeOfDeath(around, SphereTarget(kMain.centre, 2), 4, frame_s),
              std::numeric_limits<double>::infinity());
    EXPECT_NEAR(totalVolume(around) / before, 1, 1e-3);
  }
}

TEST(AbandonedBodies, OneThatReachesTheTargetIsHeldAndDrawnToIt) {
  const Ball small{Vec3d(24, 0, 0), 3.5};
  // The target beside it has moved on by two thirds of its size: part of it is still in reach.
  const UnionTarget moved = unionOf({kMain, {small.centre + Vec3d(0, 4, 0), small.radius}});
  ActiveSkin skin = skinOf({kMain, small}, holding());
  const std::uint32_t id = smallestOf(skin);
  const double before = bodyOf(skin, id)->volume;
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(skin.advance(moved, 0.1).ok());
    ASSERT_TRUE(bodyOf(skin, id).has_value());
    EXPECT_NEAR(bodyOf(skin, id)->volume / before, 1, 0.05);
  }
  EXPECT_NEAR(bodyOf(skin, id)->volume / before, 1, 1e-3);
  EXPECT_TRUE(skin.potential().contactAt(small.centre + Vec3d(0, 6, 0)).inside);
  EXPECT_FALSE(skin.potential().contactAt(small.centre - Vec3d(0, 2, 0)).inside);
}

TEST(AbandonedBodies, NothingGoesWithoutAttraction) {
  EvolutionLaw desc = holding();
  desc.attraction = 0;
  desc.tension = 0.05;
  ActiveSkin skin = skinOf({kMain, {Vec3d(24, 0, 0), 3}}, desc);
  const double before = bodyOf(skin, smallestOf(skin))->volume;
  EXPECT_EQ(timeOfDeath(skin, SphereTarget(kMain.centre, kMain.radius), 3),
            std::numeric_limits<double>::infinity());
  EXPECT_NEAR(bodyOf(skin, smallestOf(skin))->volume / before, 1, 1e-3);
}

TEST(AbandonedBodies, AreHeldAgainWhenTheTargetComesBackInTime) {
  const Ball small{Vec3d(24, 0, 0), 3.5};
  const SphereTarget gone(kMain.centre, kMain.radius);
  const UnionTarget back = unionOf({kMain, small});
  ActiveSkin skin = skinOf({kMain, small}, holding());
  const std::uint32_t id = smallestOf(skin);
  const double before = bodyOf(skin, id)->volume;
  EXPECT_EQ(timeOfDeath(skin, gone, 0.4), std::numeric_limits<double>::infinity());
  EXPECT_LT(bodyOf(skin, id)->volume, 0.4 * before);
  EXPECT_EQ(timeOfDeath(skin, back, 5), std::numeric_limits<double>::infinity());
  ASSERT_TRUE(bodyOf(skin, id).has_value());
  EXPECT_NEAR(bodyOf(skin, id)->volume / before, 1, 1e-3);
}

TEST(AbandonedBodies, LeaveTheirVolumeToTheOthersWhereASumIsHeld) {
  const SphereTarget target(kMain.centre, kMain.radius);
  const std::vector<Ball> balls = {
      kMain, {Vec3d(24, 0, 0), 3.6}, {Vec3d(0, -25, 0), 2.4}, {Vec3d(-18, 0, 18), 3}};
  for (const bool inherit : {false, true}) {
    EvolutionLaw desc = holding();
    desc.inherit_volume = inherit;
    ActiveSkin skin = skinOf(balls, desc);
    const double sum = totalVolume(skin);
    skin.setWantedVolume(sum);
    std::size_t bodies = skin.bodies().size();
    for (int i = 0; i < 30; ++i) {
      ASSERT_TRUE(skin.advance(target, 0.1).ok());
      EXPECT_LE(skin.bodies().size(), bodies);
      bodies = skin.bodies().size();
    }
    ASSERT_EQ(bodies, 1u);
    EXPECT_NEAR(totalVolume(skin) / sum, 1, 1e-3);
    std::vector<std::uint32_t> order;
    for (const SkinEvent& e : skin.events())
      if (e.kind == SkinEventKind::Death) order.push_back(e.body);
    EXPECT_EQ(order.size(), 3u);
  }
}

}  // namespace
}  // namespace derm::abandoned_bodies_test
