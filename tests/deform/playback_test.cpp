#include "derm/deform/playback.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/base/rng.h"
#include "derm/deform/basic_layers.h"

#include "support/allocations.h"
#include "support/compare.h"
#include "support/posed.h"
#include "support/test_layers.h"

namespace derm::playback_test {
namespace {

using testing_support::bumpLayer;
using testing_support::maxDistance;
using testing_support::poseAt;
using testing_support::refiningLayer;
using testing_support::riggedTube;
using testing_support::skinned;
using testing_support::SpringLayer;
using testing_support::springLayer;
using testing_support::stackOf;

/// Morphs, skinning, and every kind of layer: with a memory, travelling, refining.
std::shared_ptr<const Stack> fullStack(std::shared_ptr<const Character> character) {
  return stackOf(std::move(character), {morphLayer(), skinningLayer({}), springLayer("spring"),
                                        bumpLayer({}), refiningLayer("fine")});
}

Playback played(const std::shared_ptr<const Stack>& stack, PlaybackDesc desc,
                std::size_t clip = 0) {
  return Playback::make(stack, &stack->character().clips[clip], desc).value();
}

std::uint64_t hashOf(const SkinFrame& frame) {
  Hash64 hash;
  hash.addSpan(frame.positions());
  hash.addSpan(frame.normals());
  return hash.value();
}

std::vector<double> times(double start_s, double end_s, double fps) {
  std::vector<double> out;
  for (int i = 0; start_s + i / fps <= end_s + 1e-9; ++i) out.push_back(start_s + i / fps);
  return out;
}

std::vector<std::uint64_t> playAll(Playback& playback, std::span<const double> at) {
  std::vector<std::uint64_t> out;
  for (const double t : at) out.push_back(hashOf(playback.frameAt(t)));
  return out;
}

TEST(Playback, ScrubbingAndRandomAccessGiveTheBitsOfPlaying) {
  const auto stack = fullStack(riggedTube());
  const PlaybackDesc desc{.end_s = 1, .preroll_s = 0.25};
  for (const double fps : {24.0, 60.0, 1000.0 / 7}) {
    const std::vector<double> at = times(0, 1, fps);
    Playback straight = played(stack, desc);
    const std::vector<std::uint64_t> want = playAll(straight, at);
    Playback scrubbed = played(stack, desc);
    for (std::size_t i = at.size(); i-- > 0;)
      EXPECT_EQ(hashOf(scrubbed.frameAt(at[i])), want[i]) << "backwards " << i;
    for (std::size_t i = 0; i < at.size(); ++i)
      EXPECT_EQ(hashOf(scrubbed.frameAt(at[i])), want[i]) << "forwards again " << i;
    Rng rng(7);
    Playback random = played(stack, desc);
    for (int n = 0; n < 100; ++n) {
      const std::size_t i = rng.below(at.size());
      EXPECT_EQ(hashOf(random.frameAt(at[i])), want[i]) << "at random " << i;
    }
    Playback direct = played(stack, desc);
    direct.frameAt(at.back());
    EXPECT_EQ(direct.stateHash(), straight.stateHash());
  }
}

TEST(Playback, LoopingGivesTheSameFramesEveryTimeRound) {
  const auto stack = fullStack(riggedTube());
  Playback looped = played(stack, {.end_s = 1, .preroll_s = 0.5, .loop = true});
  std::vector<double> at;
  for (int i = 0; i < 64; ++i) at.push_back(i / 64.0);  // exact in binary, so that t + 3 is, too
  const std::vector<std::uint64_t> want = playAll(looped, at);
  for (const double turns : {1.0, 3.0, 1000.0, -2.0})
    for (std::size_t i = 0; i < at.size(); ++i)
      EXPECT_EQ(hashOf(looped.frameAt(at[i] + turns)), want[i]) << turns << " " << i;
  EXPECT_EQ(hashOf(looped.frameAt(1.0)), want[0]) << "the end of a loop is its start";
}

TEST(Playback, AllThreadCountsGiveTheSameBits) {
  const auto stack = fullStack(riggedTube(100, 60));
  std::vector<std::vector<std::uint64_t>> results;
  for (const int threads : {1, 2, 8}) {
    const ThreadLimit limit(threads);
    Playback playback = played(stack, {.end_s = 1});
    results.push_back(playAll(playback, times(0, 1, 12)));
    results.back().push_back(playback.stateHash());
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Playback, FrameRateDoesNotChangeTheMotion) {
  const auto stack = fullStack(riggedTube());
  Playback slow = played(stack, {.end_s = 1});
  Playback fast = played(stack, {.end_s = 1});
  playAll(fast, times(0, 1, 240));
  // Every 15 Hz frame falls on a 240 Hz one.
  for (const double t : times(0, 1, 15)) {
    const SkinFrame& a = slow.frameAt(t);
    const SkinFrame& b = fast.frameAt(t);
    EXPECT_TRUE(std::ranges::equal(a.positions(), b.positions())) << t;
  }
}

TEST(Playback, BetweenInnerStepsTheMotionIsContinuous) {
  const auto character = riggedTube();
  const auto stack = stackOf(character, {skinningLayer({}), springLayer("spring")});
  Playback playback = played(stack, {.end_s = 1, .inner_rate_hz = 30}, 1);
  std::vector<Vec3f> last;
  float largest = 0;
  for (double t = 0.4; t < 0.6; t += 1e-3) {
    const std::span<const Vec3f> now = playback.frameAt(t).positions();
    if (!last.empty()) largest = std::max(largest, maxDistance(now, last));
    last.assign(now.begin(), now.end());
  }
  // About 2 m/s at most; a step of the state that is shown whole would jump by 30 times as much.
  EXPECT_LT(largest, 5e-3f);
  EXPECT_GT(largest, 0);
}

TEST(Playback, WithoutStatefulLayersAFrameIsExactlyThePose) {
  const auto character = riggedTube();
  const auto stack = stackOf(character, {morphLayer(), skinningLayer({})});
  Playback playback = played(stack, {.end_s = 1});
  for (const double t : {0.7, 0.1, 1.0, 0.0}) {
    const TriMesh want =
        skinned(*character, poseAt(*character, character->clips[0], t), SkinningMethod::Linear);
    EXPECT_TRUE(std::ranges::equal(playback.frameAt(t).positions(), want.positions)) << t;
  }
}

TEST(Playback, TimesOutsideTheRangeAreClamped) {
  const auto stack = fullStack(riggedTube());
  Playback playback = played(stack, {.start_s = 0.25, .end_s = 0.75});
  const std::uint64_t first = hashOf(playback.frameAt(0.25));
  const std::uint64_t last = hashOf(playback.frameAt(0.75));
  EXPECT_EQ(hashOf(playback.frameAt(-3)), first);
  EXPECT_EQ(hashOf(playback.frameAt(9)), last);
  EXPECT_EQ(hashOf(playback.frameAt(std::numeric_limits<double>::quiet_NaN())), first);
  EXPECT_NE(first, last);
}

TEST(Playback, WithoutAClipTheRestPoseIsShown) {
  const auto character = riggedTube();
  const auto stack = stackOf(character, {skinningLayer({}), springLayer("spring")});
  Playback playback = Playback::make(stack, nullptr, {.end_s = 2}).value();
  EXPECT_LT(maxDistance(playback.frameAt(1.5).positions(), character->mesh.positions), 1e-5f);
}

/// The spring's lag alone: the distance between a frame and plain skinning.
float lag(Playback& playback, double time_s) {
  const SkinFrame& frame = playback.frameAt(time_s);
  const TriMesh plain =
      skinned(playback.stack().character(), playback.pose(), SkinningMethod::Linear);
  return maxDistance(frame.positions(), plain.positions);
}

TEST(Playback, TheFirstFrameHasNoKick) {
  const auto stack = stackOf(riggedTube(), {skinningLayer({}), springLayer("spring")});
  Playback playback = played(stack, {.start_s = 0.5, .end_s = 1}, 1);
  EXPECT_LT(lag(playback, 0.5), 1e-6f);
  EXPECT_GT(lag(playback, 1.0), 1e-3f);
}

TEST(Playback, PrerollGivesTheFirstFrameItsPast) {
  const auto stack = stackOf(riggedTube(), {skinningLayer({}), springLayer("spring")});
  Playback from_zero = played(stack, {.end_s = 1}, 1);
  Playback prerolled = played(stack, {.start_s = 0.5, .end_s = 1, .preroll_s = 0.5}, 1);
  EXPECT_NEAR(lag(prerolled, 0.5), lag(from_zero, 0.5), 1e-6f);
  EXPECT_GT(lag(prerolled, 0.5), 1e-3f);
}

TEST(Playback, AResetSeekComesToRestAndAPrerollSeekDoesNot) {
  const auto stack = stackOf(riggedTube(), {skinningLayer({}), springLayer("spring")});
  const PlaybackDesc desc{.end_s = 1, .preroll_s = 0.4, .seek = SeekRule::Reset};
  Playback reset = played(stack, desc, 1);
  reset.frameAt(0);
  EXPECT_LT(lag(reset, 0.9), 1e-6f) << "a jump ahead";
  EXPECT_GT(lag(reset, 0.95), 1e-4f) << "what follows is simulated";
  EXPECT_LT(lag(reset, 0.7), 1e-6f) << "a jump back";
  PlaybackDesc with_preroll = desc;
  with_preroll.seek = SeekRule::Preroll;
  Playback prerolled = played(stack, with_preroll, 1);
  prerolled.frameAt(0);
  EXPECT_GT(lag(prerolled, 0.9), 1e-3f);
}

TEST(Playback, ATeleportBringsLayersToRestAndNothingKicks) {
  Character jumping = *riggedTube();
  Track cut{.channel = Channel::Translation,
            .interpolation = Interpolation::Step,
            .joint = JointId(0),
            .times_s = {0, 0.5f}};
  for (const Vec3f& t : {jumping.skeleton.joints[0].rest.translation,
                         Vec3f(jumping.skeleton.joints[0].rest.translation + Vec3f(10, 0, 0))})
    cut.values.insert(cut.values.end(), t.data(), t.data() + 3);
  jumping.clips.push_back({"cut", {cut}});
  const auto stack = stackOf(std::make_shared<const Character>(jumping),
                             {skinningLayer({}), springLayer("spring")});
  Playback playback = played(stack, {.end_s = 1}, 2);
  for (const double t : times(0, 1, 60)) EXPECT_LT(lag(playback, t), 1e-5f) << t;
  Playback without = played(stack, {.end_s = 1, .teleport_m = 100}, 2);
  EXPECT_GT(lag(without, 0.6), 1.0f) << "the test would see a kick";
}

TEST(Playback, APropThatFliesOffIsNoTeleport) {
  Character tube = *riggedTube();
  // A triangle on a joint of its own, which leaps.
  const JointId prop(tube.skeleton.size());
  tube.skeleton.joints.push_back({.name = "prop", .parent = {}, .rest = {}});
  tube.skin.slots.push_back({.joint = prop});
  const auto first = static_cast<std::uint32_t>(tube.mesh.vertexCount());
  for (const Vec3f& p : {Vec3f(0, 0, 0), Vec3f(1, 0, 0), Vec3f(0, 1, 0)}) {
    tube.mesh.positions.push_back(p);
    if (!tube.mesh.normals.empty()) tube.mesh.normals.push_back(Vec3f::UnitZ());
    if (!tube.mesh.uvs.empty()) tube.mesh.uvs.push_back(Vec2f::Zero());
    tube.skin.influences.push_back({static_cast<std::uint32_t>(tube.skin.slots.size() - 1), 1.0f});
    tube.skin.offsets.push_back(tube.skin.offsets.back() + 1);
  }
  tube.mesh.triangles.push_back({first, first + 1, first + 2});
  tube.parts.clear();
  tube.instances.clear();
  addDefaultParts(tube);
  tube.instances.front().vertex_count = first;
  tube.instances.front().joint = JointId(0);
  MeshInstance carried = tube.instances.front();
  carried.joint = prop;
  carried.rigid = true;
  carried.first_vertex = first;
  carried.vertex_count = 3;
  carried.first_part = 1;
  tube.instances.push_back(carried);
  tube.parts.front().vertex_count = first;
  tube.parts.front().triangle_count -= 1;
  MeshPart own = tube.parts.front();
  own.first_vertex = first;
  own.vertex_count = 3;
  own.first_triangle = static_cast<std::uint32_t>(tube.mesh.triangles.size() - 1);
  own.triangle_count = 1;
  tube.parts.push_back(own);
  ASSERT_EQ(tube.bones()[prop.index()], false);
  Track thrown{.channel = Channel::Translation,
               .interpolation = Interpolation::Step,
               .joint = prop,
               .times_s = {0, 0.9f},
               .values = {0, 0, 0, 1e6f, 0, 0}};
  tube.clips[0].tracks.push_back(thrown);
  const auto stack =
      stackOf(std::make_shared<const Character>(tube), {skinningLayer({}), springLayer("spring")});
  Playback playback = played(stack, {.end_s = 1}, 0);
  for (const double t : times(0, 0.89, 60)) playback.frameAt(t);
  const float before = lag(playback, 0.89);
  ASSERT_GT(before, 1e-4f);
  EXPECT_GT(lag(playback, 0.905), 1e-4f) << "the layers came to rest";
}

TEST(Playback, ScrubbingBackReplaysFromACheckpoint) {
  const auto stack = stackOf(riggedTube(6, 5), {skinningLayer({}), springLayer("spring")});
  Playback playback = played(stack, {.end_s = 1000});
  playback.frameAt(1000);
  SpringLayer::steps = 0;
  playback.frameAt(990);
  // 240 000 inner steps were thinned to at most 256 checkpoints: one every 1024 steps.
  EXPECT_LE(SpringLayer::steps, 1024);
  SpringLayer::steps = 0;
  playback.frameAt(990 + 1.0 / 60);
  EXPECT_EQ(SpringLayer::steps, 4);
}

TEST(Playback, ASecondPassAllocatesNothing) {
  const ThreadLimit one(1);
  Playback playback = played(fullStack(riggedTube()), {.end_s = 1, .loop = true});
  const std::vector<double> at = times(0, 0.99, 60);
  for (const double t : at) playback.frameAt(t);
  const std::size_t before = testing_support::allocationCount();
  for (const double t : at) playback.frameAt(t);
  EXPECT_EQ(testing_support::allocationCount(), before);
}

TEST(Playback, BadRangesAndRatesAreErrors) {
  const auto stack = fullStack(riggedTube());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<PlaybackDesc, std::string>> cases = {
      {{.start_s = 1, .end_s = 0}, "range: "},
      {{.start_s = nan, .end_s = 1}, "range: "},
      {{.end_s = 1e300}, "range: "},
      {{.end_s = 1, .preroll_s = -1}, "preroll_s: "},
      {{.end_s = 1, .preroll_s = nan}, "preroll_s: "},
      {{.end_s = 1, .preroll_s = 3600, .inner_rate_hz = 100000}, "preroll_s: "},
      {{.end_s = 1, .inner_rate_hz = 0}, "inner_rate_hz: "},
      {{.end_s = 1, .inner_rate_hz = nan}, "inner_rate_hz: "},
      {{.end_s = 1, .teleport_m = 0.0}, "teleport_m: "},
  };
  for (const auto& [desc, start] : cases) {
    const Result<Playback> playback = Playback::make(stack, nullptr, desc);
    ASSERT_FALSE(playback.ok());
    EXPECT_TRUE(playback.error().text().starts_with(start)) << playback.error().text();
  }
}

TEST(Playback, AClipOfAnotherSkeletonIsAnError) {
  Clip clip;
  clip.tracks.push_back(
      {.channel = Channel::Translation, .joint = JointId(55), .times_s = {0}, .values = {0, 0, 0}});
  EXPECT_FALSE(Playback::make(fullStack(riggedTube()), &clip, {.end_s = 1}).ok());
}

}  // namespace
}  // namespace derm::playback_test
