#include "derm/anim/clip.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

namespace derm::clip_test {
namespace {

Pose poseOf(std::size_t joints, std::size_t morphs = 0) {
  return {std::vector<Transform>(joints), std::vector<float>(morphs, 0.0f)};
}

Track slide(Interpolation interpolation, std::vector<float> times, std::vector<float> values) {
  return {.channel = Channel::Translation,
          .interpolation = interpolation,
          .joint = JointId(0),
          .times_s = std::move(times),
          .values = std::move(values)};
}

float xAt(const Track& t, float time_s) {
  float out[3];
  sampleTrack(t, time_s, out);
  return out[0];
}

TEST(Clip, StepHoldsAndLinearGoesStraight) {
  const Track step = slide(Interpolation::Step, {0, 1, 2}, {0, 0, 0, 10, 0, 0, 20, 0, 0});
  EXPECT_EQ(xAt(step, 0.999f), 0);
  EXPECT_EQ(xAt(step, 1.0f), 10);
  Track linear = step;
  linear.interpolation = Interpolation::Linear;
  EXPECT_FLOAT_EQ(xAt(linear, 0.25f), 2.5f);
  EXPECT_EQ(xAt(linear, -5), 0);
  EXPECT_EQ(xAt(linear, 99), 20);
}

TEST(Clip, CubicReproducesACubicExactly) {
  // f(t) = t^3 - 2t, keys at 0 and 2 with their derivatives as tangents.
  const auto f = [](float t) { return t * t * t - 2 * t; };
  const auto d = [](float t) { return 3 * t * t - 2; };
  const Track t = slide(Interpolation::Cubic, {0, 2},
                        {99, 0, 0, f(0), 0, 0, d(0), 0, 0, d(2), 0, 0, f(2), 0, 0, 99, 0, 0});
  for (float time = 0; time <= 2.0f; time += 0.1f) EXPECT_NEAR(xAt(t, time), f(time), 1e-5);
}

TEST(Clip, RotationsTurnTheShorterWayAndKeepUnitLength) {
  const float s = std::sin(0.2f), c = std::cos(0.2f);
  Track t{.channel = Channel::Rotation,
          .joint = JointId(0),
          .times_s = {0, 1},
          .values = {0, 0, 0, 1, -s, 0, 0, -c}};  // the second key has the opposite sign
  Pose pose = poseOf(1);
  sampleClip({"c", {t}}, 0.5f, pose);
  EXPECT_NEAR(pose.local[0].rotation.angularDistance(Quatf::Identity()), 0.2f, 1e-6);
  t.interpolation = Interpolation::Cubic;
  t.values = {0, 0, 0, 0, 0, 0, 0, 1, 0.4f, 0, 0, 0, 0.4f, 0, 0, 0, s, 0, 0, c, 0, 0, 0, 0};
  for (float time = 0; time <= 1; time += 0.05f) {
    sampleClip({"c", {t}}, time, pose);
    EXPECT_NEAR(pose.local[0].rotation.norm(), 1, 1e-6);
  }
}

TEST(Clip, LocalFramesAreInterpolatedNotGlobalOnes) {  // which would give 0.7071
  Skeleton s;
  s.joints = {{"a", {}, {}}, {"b", JointId(0), {}}};
  s.joints[1].rest.translation = Vec3f(0, 0, 1);
  const float h = float(std::numbers::sqrt2 / 2);
  const Clip clip{"turn",
                  {{.channel = Channel::Rotation,
                    .joint = JointId(0),
                    .times_s = {0, 1},
                    .values = {0, 0, 0, 1, 0, h, 0, h}}}};
  Pose pose{restTransforms(s), {}};
  sampleClip(clip, 0.5f, pose);
  std::vector<Affine3d> model(2);
  localToModel(s, pose.local, model);
  EXPECT_NEAR(model[1].translation().norm(), 1.0, 1e-7);
}

TEST(Clip, SeveralTracksOfAJointAndMorphWeightsAllArrive) {
  const Clip clip{
      "c",
      {slide(Interpolation::Linear, {0}, {1, 2, 3}),
       {.channel = Channel::Scale, .joint = JointId(0), .times_s = {0}, .values = {2, 3, 4}},
       {.channel = Channel::MorphWeights,
        .first_morph = 1,
        .morph_count = 2,
        .times_s = {0, 1},
        .values = {0, 1, 1, 0}}}};
  ASSERT_TRUE(validate(clip, {.joints = 1, .morphs = 3}, "f").ok());
  Pose pose = poseOf(2, 3);
  sampleClip(clip, 0.25f, pose);
  EXPECT_EQ(pose.local[0].translation, Vec3f(1, 2, 3));
  EXPECT_EQ(pose.local[0].scale, Vec3f(2, 3, 4));
  EXPECT_EQ(pose.morph_weights, (std::vector<float>{0, 0.25f, 0.75f}));
  EXPECT_EQ(pose.local[1], Transform());
}

TEST(Clip, ValidateNamesClipAndTrack) {
  const auto messageOf = [](const Clip& c) {
    return validate(c, {.joints = 1, .morphs = 2}, "f").error().text();
  };
  const Track good = slide(Interpolation::Linear, {0, 1}, {0, 0, 0, 1, 1, 1});
  Track bad = good;
  bad.joint = JointId(7);
  EXPECT_EQ(messageOf({"c", {good, bad}}), "f: clip \"c\" tracks[1]: joint 7 of 1");
  bad = good;
  bad.times_s[1] = 0;
  EXPECT_NE(messageOf({"c", {bad}}).find("key 1 does not increase"), std::string::npos);
  bad = good;
  bad.values.pop_back();
  EXPECT_NE(messageOf({"c", {bad}}).find("5 values, but 2 keys need 6"), std::string::npos);
  bad = good;
  bad.values[4] = std::numeric_limits<float>::infinity();
  EXPECT_NE(messageOf({"c", {bad}}).find("key 1 not finite"), std::string::npos);
  bad = {.channel = Channel::MorphWeights,
         .first_morph = 1,
         .morph_count = 2,
         .times_s = {0},
         .values = {0, 0}};
  EXPECT_NE(messageOf({"c", {bad}}).find("1 + 2 of 2"), std::string::npos);
}

TEST(Clip, ResampledFollowsASplineAtTheFrames) {
  const Track t =
      slide(Interpolation::Cubic, {0, 1}, {0, 0, 0, 0, 0, 0, 3, 0, 0, 3, 0, 0, 1, 0, 0, 0, 0, 0});
  const Clip plain = resampled({"c", {t}}, 10);
  ASSERT_EQ(plain.tracks[0].times_s.size(), 11u);
  for (std::size_t k = 0; k < 11; ++k)
    EXPECT_NEAR(plain.tracks[0].values[3 * k], xAt(t, plain.tracks[0].times_s[k]), 1e-6);
  EXPECT_EQ(plain.duration_s(), 1.0f);
}

}  // namespace
}  // namespace derm::clip_test
