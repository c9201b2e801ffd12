#include <gtest/gtest.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"

#include "deform/flesh_rig.h"

namespace derm::flesh_det_test {
namespace {

using namespace flesh_test;

std::vector<FleshDesc> fourElements() {
  std::vector<FleshDesc> out = {upperFlesh(), lowerFlesh(), upperFlesh(), lowerFlesh()};
  out[2].name = "upper turning";
  out[2].rotation = true;
  out[2].frequency_hz = 5;
  out[3].name = "lower whole";
  out[3].limit = FleshLimit::Element;
  return out;
}

std::uint64_t hashOf(const SkinFrame& frame) {
  Hash64 hash;
  hash.addSpan(frame.positions());
  hash.addSpan(frame.normals());
  return hash.value();
}

std::uint64_t stateOf(const StackRunner& runner) {
  StateWriter out;
  runner.saveState(out);
  return out.hash();
}

TEST(FleshDet, SameBitsWithOneTwoAndEightThreads) {
  // Several tasks of vertices.
  const auto c = std::make_shared<const Character>(limb(shakes(), 1201, 64));
  const auto stack = fleshStack(c, fourElements());
  std::vector<std::uint64_t> hashes;
  for (const int threads : {1, 2, 8}) {
    const ThreadLimit limit(threads);
    Playback p = Playback::make(stack, &c->clips[1], {.end_s = 1}).value();
    Hash64 hash;
    for (const double t : {0.1, 0.2, 0.35}) hash.add(hashOf(p.frameAt(t)));
    hashes.push_back(hash.value());
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

TEST(FleshDet, ScrubbingGivesTheBitsOfPlaying) {
  const auto c = sharedLimb(shakes());
  const auto stack = fleshStack(c, fourElements());
  for (const Clip& clip : c->clips) {
    Playback straight = Playback::make(stack, &clip, {.end_s = 2, .preroll_s = 0.5}).value();
    Playback scrubbed = Playback::make(stack, &clip, {.end_s = 2, .preroll_s = 0.5}).value();
    std::vector<std::uint64_t> want;
    for (int i = 0; i <= 48; ++i) want.push_back(hashOf(straight.frameAt(i / 24.0)));
    for (int i = 48; i >= 0; i -= 5) EXPECT_EQ(hashOf(scrubbed.frameAt(i / 24.0)), want[i]);
    for (int i = 0; i <= 48; i += 7) EXPECT_EQ(hashOf(scrubbed.frameAt(i / 24.0)), want[i]);
  }
}

TEST(FleshDet, AThousandCharactersStepIndependently) {
  const auto c = sharedLimb(shakes());
  const auto stack = fleshStack(c, fourElements());
  constexpr std::size_t kCount = 1000;
  const auto poseOf = [&](std::size_t who, int step) {
    Pose pose = c->restPose();
    const float time = 0.001f * static_cast<float>(who) + static_cast<float>(step) / 240;
    sampleClip(c->clips[who % 3], time, pose);
    return pose;
  };
  const auto start = [&](StackRunner& runner, std::size_t who) {
    runner.setPose(poseOf(who, 0), 0);
    runner.reset();
  };
  const auto advance = [&](StackRunner& runner, std::size_t who, int step) {
    runner.setPose(poseOf(who, step), 0);
    runner.step(1.0 / 240);
  };
  std::vector<std::unique_ptr<StackRunner>> crowd;
  for (std::size_t i = 0; i < kCount; ++i) {
    crowd.push_back(std::make_unique<StackRunner>(stack));
    start(*crowd.back(), i);
  }
  constexpr int kSteps = 48;
  for (int step = 1; step <= kSteps; ++step)
    parallelFor(kCount, 16, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) advance(*crowd[i], i, step);
    });
  std::size_t different = 0;
  for (std::size_t i = 0; i < kCount; i += 37) {
    StackRunner alone(stack);
    start(alone, i);
    for (int step = 1; step <= kSteps; ++step) advance(alone, i, step);
    EXPECT_EQ(stateOf(alone), stateOf(*crowd[i])) << i;
    EXPECT_EQ(hashOf(alone.evaluate()), hashOf(crowd[i]->evaluate())) << i;
    different += i > 0 && stateOf(alone) != stateOf(*crowd[0]);
  }
  EXPECT_GT(different, 20u);
}

}  // namespace
}  // namespace derm::flesh_det_test
