#include "derm/contact/limb_clearance.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"

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
  const LimbClearanceReport report = clearLimbs(c, {&limb, 1}, {}, after, notes).value();
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

TEST(LimbClearance, BelowAMirroredJointALimbIsTurnedOutAsWell) {
  const Character plain = hangingBall();
  Character mirrored = plain;
  const Vec3f mirror(-1, 1, 1);
  mirrored.skeleton.joints[0].rest.scale = mirror;
  for (const std::size_t ball : {0u, 1u}) {
    mirrored.skeleton.joints[ball + 1].rest.translation.x() *= -1;
    Affine3f& bind = mirrored.skin.slots[ball].inverse_bind;
    bind.linear() = mirror.asDiagonal().toDenseMatrix();
    bind.translation() = -mirrored.skeleton.joints[ball + 1].rest.translation;
  }
  // The same swing, as it is written in the mirrored space.
  const Clip swung = swing(2 * kRadius - 0.1);
  Clip mirrored_swung = swung;
  std::vector<float>& keys = mirrored_swung.tracks[0].values;
  for (std::size_t i = 0; i < keys.size(); i += 4) keys[i + 1] *= -1, keys[i + 2] *= -1;
  const auto middle = [](const Character& c, const Clip& clip) -> Vec3f {
    Pose pose = c.restPose();
    sampleClip(clip, 2, pose);
    std::vector<Affine3d> model(c.skeleton.size());
    std::vector<Affine3f> palette(c.skin.slots.size());
    localToModel(c.skeleton, pose.local, model);
    skinningMatrices(c.skin, model, palette);
    return palette[1] * Vec3f(static_cast<float>(kApart), 0, 0);
  };
  ASSERT_LT((middle(mirrored, mirrored_swung) - middle(plain, swung)).norm(), 1e-5f);
  Clip out = swung, mirrored_out = mirrored_swung;
  Diagnostics notes;
  const JointId limb(2);
  ASSERT_TRUE(clearLimbs(plain, {&limb, 1}, {}, out, notes));
  ASSERT_TRUE(clearLimbs(mirrored, {&limb, 1}, {}, mirrored_out, notes));
  EXPECT_GT((middle(plain, out) - middle(plain, swung)).norm(), 0.03f);
  EXPECT_LT((middle(mirrored, mirrored_out) - middle(plain, out)).norm(), 0.01f);
}

TEST(LimbClearance, WhatIsNotSunkStaysToTheBit) {
  const Character c = hangingBall();
  const Clip before = swing(2 * kRadius - 0.01);  // less than may stay
  Clip after = before;
  Diagnostics notes;
  const JointId limb(2);
  const LimbClearanceReport report = clearLimbs(c, {&limb, 1}, {}, after, notes).value();
  EXPECT_EQ(report.turned, 0u);
  EXPECT_EQ(after, before);
  const JointId other(1);  // has no keys
  Clip deep = swing(2 * kRadius - 0.1);
  const Clip was = deep;
  ASSERT_TRUE(clearLimbs(c, {&other, 1}, {}, deep, notes));
  EXPECT_EQ(deep, was);
}

TEST(LimbClearance, NoLimbTurnsFurtherThanItMay) {
  const Character c = hangingBall();
  Clip clip = swing(2 * kRadius - 0.1);
  Diagnostics notes;
  const JointId limb(2);
  const LimbClearanceReport report =
      clearLimbs(c, {&limb, 1}, {.max_turn_rad = 0.03}, clip, notes).value();
  EXPECT_LE(report.largest_turn_rad, 0.03 + 1e-9);
  EXPECT_GT(report.largest_turn_rad, 0.015);
}

TEST(LimbClearance, IsToldHowFarItIsAndMayBeCancelled) {
  const Character c = hangingBall();
  const Clip before = swing(2 * kRadius - 0.1);
  Diagnostics notes;
  const JointId limb(2);
  const LimbClearanceDesc often{.rate_hz = 200};
  int calls = 0;
  double last = 0;
  Clip whole = before;
  ASSERT_TRUE(clearLimbs(c, {&limb, 1}, often, whole, notes, [&](double share, std::string_view) {
    EXPECT_GE(share, last);
    last = share;
    return ++calls > 0;
  }));
  EXPECT_GE(calls, 3);
  for (int stop = 1; stop <= calls; ++stop) {
    Clip clip = before;
    int told = 0;
    const Result<LimbClearanceReport> report = clearLimbs(
        c, {&limb, 1}, often, clip, notes, [&](double, std::string_view) { return ++told < stop; });
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::Cancelled);
    EXPECT_EQ(told, stop);
    EXPECT_EQ(clip, before);
  }
}

TEST(LimbClearance, IsTheSameOnAnyNumberOfThreads) {
  const Character c = hangingBall();
  Diagnostics notes;
  const JointId limb(2);
  std::vector<Clip> clips;
  for (const int threads : {1, 3}) {
    const ThreadLimit limit(threads);
    clips.push_back(swing(2 * kRadius - 0.1));
    ASSERT_TRUE(clearLimbs(c, {&limb, 1}, {.rate_hz = 90}, clips.back(), notes));
  }
  EXPECT_EQ(clips[0], clips[1]);
}

}  // namespace
}  // namespace limb_clearance_test
}  // namespace derm
