#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "derm/base/hash.h"

#include "deform/flesh_rig.h"
#include "deform/flesh_weights.h"
#include "support/allocations.h"
#include "support/compare.h"
#include "support/test_layers.h"

namespace derm::flesh_layer_test {
namespace {

using namespace flesh_test;
using testing_support::maxDistance;

const double kOmega = 2 * std::numbers::pi * 3;  // of the default spring

std::string bindError(const FleshDesc& desc, const Character& character = limb({})) {
  const std::vector<LayerFactory> layers = {skinningLayer({}), fleshLayer(desc)};
  Diagnostics notes;
  const auto stack = Stack::bind(std::make_shared<const Character>(character), layers, notes);
  return stack ? "no error" : stack.error().text();
}

std::vector<Vec3f> positionsOf(const SkinFrame& frame) {
  return {frame.positions().begin(), frame.positions().end()};
}

Playback played(const std::shared_ptr<const Stack>& stack, std::size_t clip,
                PlaybackDesc desc = {.end_s = 2}) {
  return Playback::make(stack, &stack->character().clips[clip], desc).value();
}

/// Where each vertex is without and with flesh.
struct Pair {
  Playback plain;
  Playback fleshed;
  Pair(const std::shared_ptr<const Character>& c, const std::vector<FleshDesc>& elements,
       std::size_t clip, PlaybackDesc desc = {.end_s = 2})
      : plain(played(fleshStack(c, {}), clip, desc)),
        fleshed(played(fleshStack(c, elements), clip, desc)) {}

  double displacement(double time_s) {
    return maxDistance(positionsOf(plain.frameAt(time_s)), fleshed.frameAt(time_s).positions());
  }
  double largest(double end_s) {
    double largest = 0;
    for (double t = 0; t <= end_s; t += 1.0 / 60) largest = std::max(largest, displacement(t));
    return largest;
  }
};

TEST(FleshLayer, AStillCharacterKeepsEveryBit) {
  const auto c = sharedLimb({{.name = "still"}});
  Pair pair(c, {upperFlesh()}, 0);
  for (double t = 0; t < 2; t += 0.1) EXPECT_EQ(pair.displacement(t), 0);
}

TEST(FleshLayer, GravityPullsItDownByItsSagTimesAlpha) {
  const auto c = sharedLimb({{.name = "still"}});
  FleshDesc desc = upperFlesh();
  for (const double share : {0.3, 1.0}) {
    desc.gravity = share;
    Pair pair(c, {desc}, 0);
    const std::vector<Vec3f> rest = positionsOf(pair.plain.frameAt(1));
    const SkinFrame& sagged = pair.fleshed.frameAt(1);
    const BoundSurface surface(c->mesh, c->skin);
    const detail::FleshWeights w =
        detail::fleshWeights(desc, c->skeleton, restModelMatrices(c->skeleton), surface).value();
    for (std::size_t i = 0; i < w.vertices.size(); ++i) {
      const Vec3f moved = sagged.positions()[w.vertices[i]] - rest[w.vertices[i]];
      EXPECT_NEAR(moved.y(), -share * 9.81 / (kOmega * kOmega) * w.alpha[i], 1e-6);
      EXPECT_NEAR(moved.x(), 0, 1e-6);
    }
  }
}

TEST(FleshLayer, GivesTheSameMotionAtEveryFrameRate) {
  const auto c = sharedLimb(shakes());
  for (std::size_t clip = 0; clip < c->clips.size(); ++clip) {
    Pair reference(c, {upperFlesh()}, clip);
    const double largest = reference.largest(2);
    EXPECT_GT(largest, 0.01);
    for (const double fps : {15.0, 24.0, 30.0, 60.0, 144.0, 240.0}) {
      Playback p = played(fleshStack(c, {upperFlesh()}), clip);
      for (int i = 0; i <= std::lround(2 * fps); ++i) {
        const std::vector<Vec3f> now = positionsOf(p.frameAt(i / fps));
        // Instants that all rates share: every third of a second.
        if (std::abs(std::remainder(i / fps, 1.0 / 3)) > 1e-9) continue;
        EXPECT_LE(maxDistance(now, reference.fleshed.frameAt(i / fps).positions()), 0.01 * largest);
      }
    }
  }
}

TEST(FleshLayer, TheInnerRateChangesLittleToo) {
  const auto c = sharedLimb({shakes()[0]});
  Pair fine(c, {upperFlesh()}, 0, {.end_s = 2, .inner_rate_hz = 1920});
  const double largest = fine.largest(2);
  for (const double rate : {120.0, 240.0, 480.0}) {
    Playback p = played(fleshStack(c, {upperFlesh()}), 0, {.end_s = 2, .inner_rate_hz = rate});
    for (double t = 0; t < 2; t += 1.0 / 24)
      EXPECT_LE(maxDistance(positionsOf(p.frameAt(t)), fine.fleshed.frameAt(t).positions()),
                0.01 * largest)
          << rate << " " << t;
  }
}

TEST(FleshLayer, StartsSeeksAndLoopsWithoutAKick) {
  // Already fast at the first frame; the same speed all the way.
  const auto run = Motion{.name = "run", .position = [](double t) { return Vec3d(0, 0, 5 * t); }};
  const auto c = sharedLimb({run});
  for (const SeekRule seek : {SeekRule::Replay, SeekRule::Reset, SeekRule::Preroll})
    for (const bool loop : {false, true}) {
      Pair pair(c, {upperFlesh()}, 0,
                {.start_s = 0.5, .end_s = 1.5, .preroll_s = 0.25, .loop = loop, .seek = seek});
      // 5 m/s as a kick would swing it by 0.27 m. Float keys leave accelerations of 0.03 m/s^2.
      for (const double t : {0.5, 0.5 + 1.0 / 60, 0.5 + 2.0 / 60, 1.4, 0.6, 1.49, 1.51, 1.0, 0.5})
        EXPECT_LT(pair.displacement(t), 5e-4) << t;
    }
}

TEST(FleshLayer, ATeleportOfTenMetresDoesNotShakeIt) {
  const auto leap = Motion{.name = "leap",
                           .position = [](double t) { return Vec3d(t > 1 ? 10 : 0, 0, 0.2 * t); }};
  // Keys are dense: the leap takes 1/960 s, less than an inner step.
  Pair pair(sharedLimb({leap}), {upperFlesh()}, 0);
  EXPECT_LT(pair.largest(2), 5e-4);
  // A leap too short for the playback to see: half a metre, half the bone.
  const auto hop = Motion{.name = "hop",
                          .position = [](double t) { return Vec3d(t > 1 ? 0.55 : 0, 0, 0.2 * t); }};
  Pair small(sharedLimb({hop}), {upperFlesh()}, 0);
  EXPECT_LT(small.largest(2), 5e-4);
}

TEST(FleshLayer, AHundredTimesLargerMovesAHundredTimesFurther) {
  std::vector<Motion> motions = shakes();
  const Character small = limb(motions);
  Character large = small;
  scaleLengths(large, 100);
  for (std::size_t clip = 0; clip < motions.size(); ++clip) {
    FleshDesc desc = upperFlesh();
    desc.rotation = clip == 1;
    desc.bone_radius_m = 0.02;
    FleshDesc large_desc = desc;
    large_desc.bone_radius_m *= 100;
    Pair a(std::make_shared<const Character>(small), {desc}, clip);
    Pair b(std::make_shared<const Character>(large), {large_desc}, clip);
    for (double t = 0.1; t < 2; t += 0.1)
      EXPECT_NEAR(b.displacement(t), 100 * a.displacement(t), 1e-3 * 100 * 0.05)
          << clip << " " << t;
  }
}

TEST(FleshLayer, MovesOnlyItsOwnVertices) {
  const auto c = sharedLimb({shakes()[0]});
  Pair pair(c, {upperFlesh()}, 0);
  const std::vector<Vec3f> plain = positionsOf(pair.plain.frameAt(0.4));
  const SkinFrame& moved = pair.fleshed.frameAt(0.4);
  for (std::size_t v = 0; v < plain.size(); ++v) {
    if (c->mesh.positions[v].y() <= 1) continue;
    EXPECT_EQ(moved.positions()[v], plain[v]);
  }
  EXPECT_GT(maxDistance(plain, moved.positions()), 0.01);
}

TEST(FleshLayer, TheHardLimitOfThePaperIsItsTightestVertex) {
  const auto c = sharedLimb(
      {{.name = "hard", .position = [](double t) { return Vec3d(3 * std::sin(15 * t), 0, 0); }}});
  FleshDesc desc = upperFlesh();
  desc.limit = FleshLimit::Element;
  desc.soft_limit = 1;
  for (const double share : {0.9, 0.5}) {
    desc.max_elongation = share;
    Pair pair(c, {desc}, 0);
    // All vertices are kRadius from the bone, and one has alpha 1: d / alpha = kRadius.
    EXPECT_NEAR(pair.largest(2), share * kRadius, 1e-4);
  }
  desc.soft_limit = 0.5;
  Pair soft(c, {desc}, 0);
  const double nearly = soft.largest(2);
  EXPECT_LT(nearly, 0.95 * 0.5 * kRadius);
  EXPECT_GT(nearly, 0.8 * 0.5 * kRadius);
}

TEST(FleshLayer, WorksBeforeAfterAndWithoutOtherLayersAndOnRefinedSurfaces) {
  const auto c = sharedLimb({shakes()[0]});
  const LayerFactory skinning = skinningLayer({}), flesh = fleshLayer(upperFlesh());
  const LayerFactory bump = testing_support::bumpLayer({});
  const LayerFactory refine = testing_support::refiningLayer("fine");
  const auto playing = [&](const std::vector<LayerFactory>& layers) {
    Diagnostics notes;
    return played(Stack::bind(c, layers, notes).value(), 0);
  };
  struct Order {
    std::vector<LayerFactory> with, without;
  };
  for (const Order& order :
       {Order{{skinning, flesh, bump}, {skinning, bump}},
        Order{{skinning, bump, flesh}, {skinning, bump}},
        Order{{skinning, refine, flesh}, {skinning, refine}},
        Order{{skinning, flesh, refine}, {skinning, refine}}, Order{{skinning, flesh}, {skinning}},
        Order{{refine, skinning, flesh}, {refine, skinning}}}) {
    Playback with = playing(order.with), without = playing(order.without);
    for (const double t : {0.2, 0.4, 0.6}) {
      const double moved =
          maxDistance(positionsOf(with.frameAt(t)), positionsOf(without.frameAt(t)));
      EXPECT_GT(moved, 0.002) << t;
      EXPECT_LT(moved, kRadius) << t;
    }
  }
}

TEST(FleshLayer, NormalsFollow) {
  const auto c = sharedLimb({shakes()[0]});
  Playback p = played(fleshStack(c, {upperFlesh()}), 0);
  const SkinFrame& frame = p.frameAt(0.35);
  const std::vector<Vec3f> want = areaWeightedNormals(positionsOf(frame), frame.triangles());
  EXPECT_LT(maxDistance(frame.normals(), want), 1e-4);
}

TEST(FleshLayer, AllocatesNothingPerFrame) {
  const auto c = sharedLimb(shakes());
  FleshDesc turning = upperFlesh(), whole = lowerFlesh(), touching = upperFlesh();
  turning.rotation = true;
  whole.limit = FleshLimit::Element;
  touching.name = "touching";
  touching.contact = {{.from = Vec3d(0.4, 0.5, 0), .radius_m = 0.2}};
  StackRunner runner(fleshStack(c, {turning, whole, touching}));
  Pose pose = c->restPose();
  runner.setPose(pose, 0);
  runner.reset();
  runner.evaluate();
  const std::size_t before = testing_support::allocationCount();
  for (int i = 1; i < 50; ++i) {
    sampleClip(c->clips[1], static_cast<float>(i) / 240, pose);
    runner.setPose(pose, i / 240.0);
    runner.step(1.0 / 240);
    runner.evaluate(0.5);
  }
  EXPECT_EQ(testing_support::allocationCount(), before);
}

TEST(FleshLayer, NothingThatIsNotFiniteGetsOut) {
  const auto c = sharedLimb({});
  FleshDesc desc = upperFlesh();
  desc.rotation = true;
  desc.gravity = 1;
  StackRunner runner(fleshStack(c, {desc}));
  runner.reset();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float bad : {nan, std::numeric_limits<float>::infinity(), 1e30f, 0.0f}) {
    Pose pose = c->restPose();
    pose.local[0].scale = Vec3f::Constant(bad == 0 ? 0.0f : 1.0f);
    if (bad != 0) pose.local[1].translation.x() = pose.local[0].translation.y() = bad;
    for (int i = 0; i < 4; ++i) {
      runner.setPose(i % 2 == 0 ? pose : c->restPose(), 0);
      runner.step(1.0 / 240);
      const SkinFrame& frame = runner.evaluate(0.3);
      if (i % 2 == 0) continue;
      for (const Vec3f& p : frame.positions()) ASSERT_TRUE(p.allFinite()) << bad;
    }
  }
}

TEST(FleshLayer, SaysWhatIsWrongWithItsElement) {
  const auto expect = [](const FleshDesc& desc, const char* field, const char* message) {
    const std::string text = bindError(desc);
    EXPECT_NE(text.find(field), std::string::npos) << text;
    EXPECT_NE(text.find(message), std::string::npos) << text;
  };
  FleshDesc d = upperFlesh();
  EXPECT_EQ(bindError(d), "no error");
  d.dominant = JointId();
  expect(d, "dominant", "joint to hang on");
  d = upperFlesh();
  d.ends = {};
  expect(d, "ends", "below the dominant");
  d = upperFlesh();
  d.dominant = JointId(1);
  d.ends = {JointId(2), JointId(0)};
  expect(d, "ends[1]", "\"upper\" is not below the dominant \"lower\"");
  d = upperFlesh();
  d.ends = {JointId(0)};
  expect(d, "ends", "not below");
  d = upperFlesh();
  d.to = Vec3d::Zero();
  expect(d, "ends", "no length");
  d = upperFlesh();
  d.bone_radius_m = 1;
  expect(d, "vertices", "no vertex can move");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {-1.0, 0.0, nan}) {
    d = upperFlesh();
    d.frequency_hz = bad;
    expect(d, "frequency_hz", "more than 0");
    d = upperFlesh();
    d.mass_kg = bad;
    expect(d, "mass_kg", "more than 0");
    d = upperFlesh();
    d.stiffness = bad;
    expect(d, "stiffness", "more than 0");
    d = upperFlesh();
    d.max_elongation = bad;
    expect(d, "max_elongation", "more than 0");
  }
  d = upperFlesh();
  d.damping_ratio = -0.1;
  expect(d, "damping_ratio", "0 to 100");
  d = upperFlesh();
  d.stiffness = 80;
  d.frequency_hz = 3;
  expect(d, "stiffness", "either");
  d = upperFlesh();
  d.gravity = 2;
  expect(d, "gravity", "0 to 1");
  d = upperFlesh();
  d.gravity_direction = Vec3d::Zero();
  expect(d, "gravity_direction", "length");
  d = upperFlesh();
  d.soft_limit = 1.5;
  expect(d, "soft_limit", "0 to 1");
  d = upperFlesh();
  d.contact = {{.radius_m = -1}};
  expect(d, "contact[0]", "radius");
}

TEST(FleshLayer, RefusesAnEulerStepThatWouldExplodeAndNamesTheBound) {
  FleshDesc d = upperFlesh();
  d.integrator = FleshIntegrator::Euler;
  EXPECT_EQ(bindError(d), "no error");
  d.frequency_hz = 100;
  const std::string text = bindError(d);
  EXPECT_NE(text.find("must stay below 4 - 2 c dt / m"), std::string::npos) << text;
  EXPECT_NE(text.find("euler_step_s below 0.002"), std::string::npos) << text;
  d.euler_step_s = 0.002;
  EXPECT_EQ(bindError(d), "no error");
  d.integrator = FleshIntegrator::Exact;
  d.frequency_hz = 1000;
  EXPECT_EQ(bindError(d), "no error");
}

TEST(FleshLayer, StiffnessAndMassGiveTheSameSpringAsFrequency) {
  FleshDesc raw = upperFlesh(), plain = upperFlesh();
  raw.mass_kg = 2;
  raw.stiffness = 2 * kOmega * kOmega;
  raw.damping = 2 * 0.15 * 2 * kOmega;
  EXPECT_NEAR(springOf(raw).omega, springOf(plain).omega, 1e-12);
  EXPECT_NEAR(springOf(raw).zeta, springOf(plain).zeta, 1e-12);
  double last = 1e9;
  for (const FleshSoftness s :
       {FleshSoftness::Muscle, FleshSoftness::Fat, FleshSoftness::Belly, FleshSoftness::Jelly}) {
    EXPECT_LT(springOf(s).frequency_hz, last);
    last = springOf(s).frequency_hz;
  }
}

}  // namespace
}  // namespace derm::flesh_layer_test
