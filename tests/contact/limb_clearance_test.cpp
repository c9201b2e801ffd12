#include "derm/contact/limb_clearance.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "contact/two_balls.h"

namespace derm {
namespace limb_clearance_test {
namespace {

using namespace contact_test;

constexpr float kPivotHeight = 1.5f;
const Vec3f kPivot(static_cast<float>(kApart), kPivotHeight, 0);

/// The second ball hangs below its joint, as a hand below a shoulder.
Character hangingBall() {
  Character c = balls();
  c.skeleton.joints[2].rest.translation = kPivot;
  c.skin.slots[1].inverse_bind.translation() = -kPivot;
  return c;
}

/// Swings to the first ball and back in four seconds; at two the middles are `nearest` apart.
Clip swing(double nearest) {
  // The ball's middle goes around the pivot: x = kApart - height sin(a), y = height (1 - cos(a)).
  double angle = 0;
  for (int i = 0; i < 2000; ++i) {
    const double x = kApart - double{kPivotHeight} * std::sin(angle);
    const double y = double{kPivotHeight} * (1 - std::cos(angle));
    if (std::hypot(x, y) <= nearest) break;
    angle += 0.0005;
  }
  Clip clip{.name = "swing"};
  Track track{.channel = Channel::Rotation, .joint = JointId(2)};
  for (int k = 0; k <= 240; ++k) {
    const double t = k / 60.0;
    const double share = std::max(0.0, 1 - std::abs(t - 2) / 1.0);
    const Quatd q(Eigen::AngleAxisd(-angle * share * share * (3 - 2 * share), Vec3d::UnitZ()));
    track.times_s.push_back(static_cast<float>(t));
    for (const double v : {q.x(), q.y(), q.z(), q.w()})
      track.values.push_back(static_cast<float>(v));
  }
  clip.tracks.push_back(track);
  return clip;
}

double apart(const Character& c, const Clip& clip, float time) {
  Pose pose = c.restPose();
  sampleClip(clip, time, pose);
  const Vec3f middle = kPivot + pose.local[2].rotation * Vec3f(0, -kPivotHeight, 0);
  return double{middle.norm()};
}

TEST(LimbClearance, ALimbThatSinksInIsTurnedOutAndNothingElseMoves) {
  const Character c = hangingBall();
  const Clip before = swing(2 * kRadius - 0.1);
  Clip after = before;
  Diagnostics notes;
  const JointId limb(2);
  const LimbClearanceReport report = clearLimbs(c, {&limb, 1}, {}, after, notes);
  EXPECT_GT(report.turned, 2u);
  EXPECT_GT(report.largest_turn_rad, 0.03);
  EXPECT_LT(apart(c, before, 2), 2 * kRadius - 0.095);
  // Half of what is sunk is measured from either ball: the middles come out to what may stay.
  EXPECT_GT(apart(c, after, 2), 2 * kRadius - 0.12 * 2 * kRadius - 0.015);
  EXPECT_LT(apart(c, after, 2), 2 * kRadius + 0.01);
  for (const float t : {0.0f, 0.5f, 3.5f, 4.0f})
    EXPECT_EQ(apart(c, after, t), apart(c, before, t)) << t;
  // What is added comes and goes gradually: no key turns more than a few degrees from the last.
  double last = 0, largest = 0;
  for (int k = 0; k <= 240; ++k) {
    const double added = apart(c, after, k / 60.0f) - apart(c, before, k / 60.0f);
    EXPECT_GT(added, -1e-6) << k;
    largest = std::max(largest, std::abs(added - last));
    last = added;
  }
  EXPECT_LT(largest, 0.02);
}

TEST(LimbClearance, WhatIsNotSunkStaysToTheBit) {
  const Character c = hangingBall();
  const Clip before = swing(2 * kRadius - 0.01);  // less than may stay
  Clip after = before;
  Diagnostics notes;
  const JointId limb(2);
  const LimbClearanceReport report = clearLimbs(c, {&limb, 1}, {}, after, notes);
  EXPECT_EQ(report.turned, 0u);
  EXPECT_EQ(after, before);
  const JointId other(1);  // has no keys
  Clip deep = swing(2 * kRadius - 0.1);
  const Clip was = deep;
  clearLimbs(c, {&other, 1}, {}, deep, notes);
  EXPECT_EQ(deep, was);
}

TEST(LimbClearance, NoLimbTurnsFurtherThanItMay) {
  const Character c = hangingBall();
  Clip clip = swing(2 * kRadius - 0.1);
  Diagnostics notes;
  const JointId limb(2);
  const LimbClearanceReport report = clearLimbs(c, {&limb, 1}, {.max_turn_rad = 0.03}, clip, notes);
  EXPECT_LE(report.largest_turn_rad, 0.03 + 1e-9);
  EXPECT_GT(report.largest_turn_rad, 0.015);
}

}  // namespace
}  // namespace limb_clearance_test
}  // namespace derm
