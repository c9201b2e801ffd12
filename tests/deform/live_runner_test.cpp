#include "derm/deform/live_runner.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "deform/flesh_rig.h"
#include "support/allocations.h"
#include "support/compare.h"

namespace derm::live_runner_test {
namespace {

using namespace flesh_test;
using testing_support::maxDistance;

std::vector<Vec3f> positionsOf(const SkinFrame& frame) {
  return {frame.positions().begin(), frame.positions().end()};
}

/// Lengths of frames around 1 / fps, as uneven as a real engine's, that meet every third of a
/// second.
std::vector<double> unevenFrames(double fps, double seconds) {
  std::vector<double> out;
  const int thirds = static_cast<int>(std::lround(3 * seconds));
  const int frames = std::max(1, static_cast<int>(std::lround(fps / 3)));
  for (int third = 0; third < thirds; ++third) {
    double sum = 0;
    std::vector<double> lengths;
    for (int i = 0; i < frames; ++i) {
      lengths.push_back(i % 3 == 0 ? 1.5 : i % 3 == 1 ? 0.5 : 1.0);
      sum += lengths.back();
    }
    for (const double l : lengths) out.push_back(l / sum / 3);
  }
  return out;
}

struct Largest {
  double displacement = 0, difference = 0;
};

/// Against a Playback at the instants that all rates share.
template <class Advance>
Largest compared(std::size_t clip_index, double fps, const Advance& advance) {
  const auto c = sharedLimb(shakes());
  const Clip& clip = c->clips[clip_index];
  Playback reference = Playback::make(fleshStack(c, {upperFlesh()}), &clip, {.end_s = 2}).value();
  Playback plain = Playback::make(fleshStack(c, {}), &clip, {.end_s = 2}).value();
  Largest out;
  for (int i = 0; i <= 240; ++i)
    out.displacement =
        std::max<double>(out.displacement, maxDistance(positionsOf(reference.frameAt(i / 120.0)),
                                                       plain.frameAt(i / 120.0).positions()));
  LiveRunner live(fleshStack(c, {upperFlesh()}));
  Pose pose = c->restPose();
  sampleClip(clip, 0, pose);
  live.reset(pose);
  double now = 0;
  for (const double dt : unevenFrames(fps, 2)) {
    now += dt;
    const std::vector<Vec3f> got = positionsOf(advance(live, clip, now, dt));
    if (std::abs(std::remainder(now, 1.0 / 3)) > 1e-9) continue;
    out.difference =
        std::max<double>(out.difference, maxDistance(got, reference.frameAt(now).positions()));
  }
  return out;
}

TEST(LiveRunner, SwingsAsAPlaybackDoesAtAnyUnevenFrameRate) {
  for (std::size_t clip = 0; clip < 3; ++clip)
    for (const double fps : {15.0, 24.0, 30.0, 60.0, 144.0, 240.0}) {
      const Largest found = compared(
          clip, fps,
          [](LiveRunner& live, const Clip& motion, double now, double dt) -> const SkinFrame& {
            return live.advance(dt, [&](double ago_s, Pose& pose) {
              sampleClip(motion, static_cast<float>(now - ago_s), pose);
            });
          });
      EXPECT_GT(found.displacement, 0.01);
      EXPECT_LE(found.difference, 0.01 * found.displacement) << clip << " at " << fps;
    }
}

TEST(LiveRunner, GuessesPosesBetweenFrames) {
  for (const auto& [fps, bar] : {std::pair(240.0, 0.002), std::pair(60.0, 0.003),
                                 std::pair(30.0, 0.01), std::pair(15.0, 0.1)})
    for (const std::size_t clip : {0u, 1u}) {
      const Largest found = compared(
          clip, fps,
          [](LiveRunner& live, const Clip& motion, double now, double dt) -> const SkinFrame& {
            Pose pose = live.stack().character().restPose();
            sampleClip(motion, static_cast<float>(now), pose);
            return live.advance(dt, pose);
          });
      std::printf("poses alone, clip %zu, %3.0f frames per second: off by %.2f %% of the swing\n",
                  clip, fps, 100 * found.difference / found.displacement);
      EXPECT_LE(found.difference, bar * found.displacement) << clip << " at " << fps;
    }
}

TEST(LiveRunner, APausedEngineSeesFleshStandStillAndALongFrameIsCut) {
  const auto c = sharedLimb(shakes());
  LiveRunner live(fleshStack(c, {upperFlesh()}));
  const auto at = [&](double now) {
    return [&c, now](double ago_s, Pose& pose) {
      sampleClip(c->clips[0], static_cast<float>(now - ago_s), pose);
    };
  };
  for (int i = 1; i <= 60; ++i) live.advance(1 / 60.0, at(i / 60.0));
  const std::vector<Vec3f> before = positionsOf(live.advance(0, at(1)));
  EXPECT_EQ(positionsOf(live.advance(0, at(1))), before);
  const double time_s = live.time_s();
  live.advance(1000, at(1));
  EXPECT_NEAR(live.time_s() - time_s, 0.1, 1e-12);
}

TEST(LiveRunner, AllocatesNothingPerFrame) {
  const auto c = sharedLimb(shakes());
  LiveRunner live(fleshStack(c, {upperFlesh()}));
  Pose pose = c->restPose();
  const LiveRunner::PoseAt rest = [&](double, Pose& out) { out = pose; };
  live.advance(1 / 60.0, rest);
  live.advance(1 / 60.0, pose);
  const std::size_t before = testing_support::allocationCount();
  live.advance(1 / 50.0, rest);
  live.advance(1 / 60.0, pose);
  live.advance(1 / 70.0, pose);
  EXPECT_EQ(testing_support::allocationCount(), before);
}

TEST(LiveRunner, KeepsTheSwingThroughAnEdit) {
  const auto c = sharedLimb(shakes());
  LiveRunner live(fleshStack(c, {upperFlesh()}));
  for (int i = 1; i <= 40; ++i)
    live.advance(1 / 60.0, [&](double ago_s, Pose& pose) {
      sampleClip(c->clips[0], static_cast<float>(i / 60.0 - ago_s), pose);
    });
  const Vec3d before = live.find<FleshLayer>("flesh")->elongation_m();
  FleshDesc soft = upperFlesh();
  soft.frequency_hz = 1.5;
  Diagnostics notes;
  live.change(
      live.stack()
          .rebind(std::vector<LayerFactory>{morphLayer(), skinningLayer({}), fleshLayer(soft)},
                  notes)
          .value());
  EXPECT_GT(before.norm(), 1e-4);
  EXPECT_EQ(live.find<FleshLayer>("flesh")->elongation_m(), before);
}

}  // namespace
}  // namespace derm::live_runner_test
