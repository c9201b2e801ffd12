#include <gtest/gtest.h>

#include "deform/flesh_rig.h"
#include "support/compare.h"
#include "support/test_layers.h"

namespace derm::rebind_test {
namespace {

using namespace flesh_test;
using testing_support::bumpLayer;
using testing_support::maxDistance;
using testing_support::refiningLayer;

FleshDesc softer(FleshDesc desc) {
  desc.frequency_hz = 2;
  desc.damping_ratio = 0.4;
  return desc;
}

Result<std::shared_ptr<const Stack>> rebound(const Stack& stack,
                                             const std::vector<LayerFactory>& layers) {
  Diagnostics notes;
  return stack.rebind(layers, notes);
}

std::vector<Vec3f> positionsOf(const SkinFrame& frame) {
  return {frame.positions().begin(), frame.positions().end()};
}

TEST(Rebind, KeepsBindingsOfEqualParametersAndSharesTablesOfChangedOnes) {
  const auto c = sharedLimb(shakes());
  const auto stack = fleshStack(c, {upperFlesh(), lowerFlesh()});
  const auto same = rebound(*stack, {morphLayer(), skinningLayer({}), fleshLayer(upperFlesh()),
                                     fleshLayer(lowerFlesh())})
                        .value();
  ASSERT_EQ(same->layers().size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(same->layers()[i], stack->layers()[i]) << i;
  const auto edited = rebound(*stack, {morphLayer(), skinningLayer({}),
                                       fleshLayer(softer(upperFlesh())), fleshLayer(lowerFlesh())})
                          .value();
  EXPECT_NE(edited->layers()[2], stack->layers()[2]);
  EXPECT_EQ(edited->layers()[3], stack->layers()[3]) << "its surface is the same";
  EXPECT_EQ(&edited->input(), &stack->input());
}

TEST(Rebind, BindsWhatLiesOnAnotherSurface) {
  const auto c = sharedLimb({});
  const auto stack = fleshStack(c, {upperFlesh()});
  const auto finer = rebound(*stack, {morphLayer(), skinningLayer({}), refiningLayer("finer"),
                                      fleshLayer(upperFlesh())})
                         .value();
  EXPECT_EQ(finer->layers()[1], stack->layers()[1]);
  EXPECT_NE(finer->layers()[3], stack->layers()[2]);
  EXPECT_GT(finer->output().rest.vertexCount(), stack->output().rest.vertexCount());
}

TEST(Rebind, AnEditThatFailsSaysSoAndTheOldStackPlaysOn) {
  const auto stack = fleshStack(sharedLimb(shakes()), {upperFlesh()});
  FleshDesc wrong = upperFlesh();
  wrong.max_elongation = 2;
  const auto failed = rebound(*stack, {morphLayer(), skinningLayer({}), fleshLayer(wrong)});
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().text().find("max_elongation"), std::string::npos);
  StackRunner runner(stack);
  EXPECT_EQ(runner.evaluate().vertexCount(), stack->output().rest.vertexCount());
}

TEST(Rebind, OneLayerOfTheStackIsFoundByNameAndType) {
  const auto stack = fleshStack(sharedLimb({}), {upperFlesh()});
  StackRunner runner(stack);
  EXPECT_NE(runner.find<FleshLayer>("flesh"), nullptr);
  EXPECT_EQ(runner.find<FleshLayer>("skinning"), nullptr) << "another type";
  EXPECT_EQ(runner.find<FleshLayer>("belly"), nullptr) << "no such name";
  EXPECT_NE(runner.find("skinning"), nullptr);
  EXPECT_NE(stack->find("flesh"), nullptr);
}

/// Plays to an instant, edits, and compares the spring right before and right after.
template <class Edit>
void expectSwingGoesOn(const Edit& edit) {
  const auto c = sharedLimb(shakes());
  for (std::size_t clip = 0; clip < c->clips.size(); ++clip) {
    SCOPED_TRACE(c->clips[clip].name);
    Playback p =
        Playback::make(fleshStack(c, {upperFlesh()}), &c->clips[clip], {.end_s = 2}).value();
    for (int i = 0; i <= 70; ++i) p.frameAt(i / 60.0);
    const Vec3d before = p.find<FleshLayer>("flesh")->elongation_m();
    const Vec3d speed = p.find<FleshLayer>("flesh")->velocity_m_per_s();
    EXPECT_GT(before.norm(), 1e-4) << "there must be something to lose";
    p.change(edit(p.stack()).value());
    ASSERT_NE(p.find<FleshLayer>("flesh"), nullptr);
    EXPECT_LE((p.find<FleshLayer>("flesh")->elongation_m() - before).norm(), 1e-12);
    EXPECT_LE((p.find<FleshLayer>("flesh")->velocity_m_per_s() - speed).norm(), 1e-12);
    // And no kick: one inner step on, neither has leapt.
    p.frameAt(70 / 60.0 + 1 / 240.0);
    const Vec3d after = p.find<FleshLayer>("flesh")->elongation_m();
    EXPECT_LE((after - before).norm(), 2 * (speed.norm() + 1) / 240);
  }
}

TEST(Rebind, AnEditedSpringGoesOnWhereItWas) {
  expectSwingGoesOn([](const Stack& stack) {
    return rebound(stack, {morphLayer(), skinningLayer({}), fleshLayer(softer(upperFlesh()))});
  });
}

TEST(Rebind, AReorderAndAnInsertionKeepTheSwing) {
  expectSwingGoesOn([](const Stack& stack) {
    return rebound(stack, {morphLayer(), skinningLayer({}), bumpLayer({.height = 0}),
                           fleshLayer(lowerFlesh()), fleshLayer(upperFlesh())});
  });
  expectSwingGoesOn([](const Stack& stack) {  // bound anew, to a finer surface
    return rebound(
        stack, {morphLayer(), skinningLayer({}), refiningLayer("finer"), fleshLayer(upperFlesh())});
  });
}

TEST(Rebind, WithoutAnyChangeTheFramesAreTheSameBits) {
  const auto c = sharedLimb(shakes());
  Playback straight =
      Playback::make(fleshStack(c, {upperFlesh()}), &c->clips[1], {.end_s = 2}).value();
  Playback edited =
      Playback::make(fleshStack(c, {upperFlesh()}), &c->clips[1], {.end_s = 2}).value();
  for (int i = 0; i <= 60; ++i) {
    if (i == 20)
      edited.change(rebound(edited.stack(), {morphLayer(), skinningLayer({}),
                                             bumpLayer({.height = 0}), fleshLayer(upperFlesh())})
                        .value());
    if (i == 40)
      edited.change(
          rebound(edited.stack(), {morphLayer(), skinningLayer({}), fleshLayer(upperFlesh())})
              .value());
    EXPECT_EQ(positionsOf(straight.frameAt(i / 30.0)), positionsOf(edited.frameAt(i / 30.0))) << i;
  }
}

TEST(Rebind, FleshOfAnotherBoneStartsAtRestWithoutAKick) {
  // Fast all the way: what starts anew must not be thrown by the speed it meets.
  const auto run = Motion{.name = "run", .position = [](double t) { return Vec3d(0, 0, 5 * t); }};
  const auto c = sharedLimb({run});
  Playback p = Playback::make(fleshStack(c, {upperFlesh()}), &c->clips[0], {.end_s = 2}).value();
  Playback plain = Playback::make(fleshStack(c, {}), &c->clips[0], {.end_s = 2}).value();
  for (int i = 0; i <= 30; ++i) p.frameAt(i / 30.0);
  FleshDesc other = lowerFlesh();
  other.name = "flesh";
  p.change(rebound(p.stack(), {morphLayer(), skinningLayer({}), fleshLayer(other)}).value());
  EXPECT_EQ(p.find<FleshLayer>("flesh")->elongation_m(), Vec3d(Vec3d::Zero()));
  for (int i = 31; i <= 59; ++i)
    EXPECT_LT(maxDistance(positionsOf(p.frameAt(i / 30.0)), plain.frameAt(i / 30.0).positions()),
              5e-4)
        << i;
}

TEST(Rebind, AnEarlierInstantIsReplayedWithTheEditedLayers) {
  const auto c = sharedLimb(shakes());
  Playback p = Playback::make(fleshStack(c, {upperFlesh()}), &c->clips[0], {.end_s = 2}).value();
  for (int i = 0; i <= 60; ++i) p.frameAt(i / 30.0);
  p.change(rebound(p.stack(), {morphLayer(), skinningLayer({}), fleshLayer(softer(upperFlesh()))})
               .value());
  Playback fresh =
      Playback::make(fleshStack(c, {softer(upperFlesh())}), &c->clips[0], {.end_s = 2}).value();
  EXPECT_EQ(positionsOf(p.frameAt(0.5)), positionsOf(fresh.frameAt(0.5)));
}

TEST(Rebind, AlphaOfTheCentreMethodChangesWithoutFindingCentresAgain) {
  const auto c = sharedLimb(shakes());
  const SkinningDesc half{.method = SkinningMethod::Centre, .alpha = 0.5};
  const SkinningDesc one{.method = SkinningMethod::Centre, .alpha = 1};
  Diagnostics notes;
  const auto stack = Stack::bind(c, std::array{skinningLayer(half)}, notes).value();
  const auto other = stack->rebind(std::array{skinningLayer(one)}, notes).value();
  const auto fresh = Stack::bind(c, std::array{skinningLayer(one)}, notes).value();
  EXPECT_EQ(other->layers()[0]->skinning()->binding->centres().data(),
            stack->layers()[0]->skinning()->binding->centres().data())
      << "one table";
  StackRunner a(other), b(fresh), was(stack);
  Pose pose = c->restPose();
  sampleClip(c->clips[2], 0.3f, pose);
  for (StackRunner* runner : {&a, &b, &was}) runner->setPose(pose, 0);
  EXPECT_EQ(positionsOf(a.evaluate()), positionsOf(b.evaluate()));
  EXPECT_NE(positionsOf(a.evaluate()), positionsOf(was.evaluate()));
}

TEST(Stack, DoesNotCopyTheCharactersMeshOrSkin) {
  const auto c = sharedLimb({});
  const auto stack = fleshStack(c, {});
  EXPECT_EQ(stack->input().rest.positions.data(), c->mesh.positions.data());
  EXPECT_EQ(stack->input().skin.influences.data(), c->skin.influences.data());
}

}  // namespace
}  // namespace derm::rebind_test
