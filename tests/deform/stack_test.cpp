#include "derm/deform/stack.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/deform/basic_layers.h"

#include "support/allocations.h"
#include "support/compare.h"
#include "support/posed.h"
#include "support/test_layers.h"

namespace derm::stack_test {
namespace {

using testing_support::bumpLayer;
using testing_support::maxDistance;
using testing_support::noOpLayer;
using testing_support::poseAt;
using testing_support::refiningLayer;
using testing_support::riggedTube;
using testing_support::springLayer;
using testing_support::stackOf;

TEST(Stack, TwoLayersOfOneNameAreAnError) {
  Diagnostics notes;
  const std::vector<LayerFactory> layers = {noOpLayer("belly"), noOpLayer("belly")};
  const auto stack = Stack::bind(riggedTube(), layers, notes);
  ASSERT_FALSE(stack.ok());
  EXPECT_EQ(stack.error().text(), "layer[1]: two layers are named \"belly\"");
}

TEST(Stack, ALayersOwnErrorIsPassedOn) {
  Character bare = *riggedTube();
  bare.mesh.normals.clear();
  Diagnostics notes;
  const std::vector<LayerFactory> layers = {skinningLayer({}), bumpLayer({})};
  const auto stack = Stack::bind(std::make_shared<const Character>(bare), layers, notes);
  ASSERT_FALSE(stack.ok());
  EXPECT_EQ(stack.error().text(), "bump: a bump needs normals");
}

TEST(Stack, ALayerThatIsMissingIsAnError) {
  const LayerFactory none;
  const LayerFactory nothing = [](const BindInput&) -> BindResult {
    return std::shared_ptr<const LayerBinding>();
  };
  Diagnostics notes;
  for (const LayerFactory& missing : {none, nothing}) {
    const auto stack = Stack::bind(riggedTube(), std::vector{noOpLayer("a"), missing}, notes);
    ASSERT_FALSE(stack.ok());
    EXPECT_EQ(stack.error().text(), "layer[1]: there is no layer to bind");
  }
}

TEST(Stack, MorphWeightsThatAreNoNumbersCountAsNone) {
  Character c = *riggedTube();
  MorphTarget bulge{.name = "bulge", .vertices = {3, 4}, .positions = {{1, 0, 0}, {0, 1, 0}}};
  c.morphs.push_back(bulge);
  c.instances[0].morph_count = 1;
  const auto character = std::make_shared<const Character>(c);
  Diagnostics notes;
  StackRunner runner(
      Stack::bind(character, std::vector{morphLayer(), skinningLayer({})}, notes).value());
  Pose pose = character->restPose();
  ASSERT_EQ(pose.morph_weights.size(), 1u);
  runner.setPose(pose, 0);
  const SkinFrame& frame = runner.evaluate();
  const std::vector<Vec3f> rest(frame.positions().begin(), frame.positions().end());
  for (const float weight :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    pose.morph_weights[0] = weight;
    runner.setPose(pose, 0);
    const auto now = std::as_const(runner.evaluate()).positions();
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), now.begin(), now.end())) << weight;
  }
}

TEST(Stack, ACharacterThatIsNotValidIsRefused) {
  Character broken = *riggedTube();
  broken.mesh.triangles.front()[0] = 1u << 30;
  Diagnostics notes;
  EXPECT_FALSE(Stack::bind(std::make_shared<const Character>(broken), {}, notes).ok());
}

TEST(Stack, NoOpLayersChangeNothing) {
  const auto character = riggedTube();
  StackRunner plain(stackOf(character, {skinningLayer({})}));
  StackRunner padded(stackOf(character, {noOpLayer("a"), skinningLayer({}), noOpLayer("b")}));
  const Pose pose = poseAt(*character, character->clips[0], 0.6);
  plain.setPose(pose, 0.6);
  padded.setPose(pose, 0.6);
  EXPECT_TRUE(std::ranges::equal(plain.evaluate().positions(), padded.evaluate().positions()));
  EXPECT_TRUE(std::ranges::equal(plain.evaluate().normals(), padded.evaluate().normals()));
}

TEST(Stack, ALayerMovesWhatTheOneBelowGave) {
  const auto character = riggedTube();
  StackRunner plain(stackOf(character, {skinningLayer({})}));
  StackRunner bumped(stackOf(character, {skinningLayer({}), bumpLayer({.height = 0.1})}));
  const Pose pose = poseAt(*character, character->clips[0], 0.5);
  plain.setPose(pose, 0.5);
  bumped.setPose(pose, 0.5);
  const std::span<const Vec3f> below = plain.evaluate().positions();
  const SkinFrame& above = bumped.evaluate();
  // The bump is at most a tenth of the tube's 4 m, along the normals; far from it nothing moves.
  EXPECT_NEAR(maxDistance(above.positions(), below), 0.4f, 0.01f);
  EXPECT_EQ(above.positions()[character->mesh.vertexCount() - 1], below.back());
  EXPECT_GT(maxDistance(above.normals(), plain.evaluate().normals()), 0.1f);
  for (const Vec3f& n : above.normals()) EXPECT_NEAR(n.norm(), 1.0f, 1e-5f);
}

TEST(Stack, ARefiningLayerHandsItsFinerSurfaceToTheNext) {
  const auto character = riggedTube();
  const auto stack = stackOf(character, {skinningLayer({}), refiningLayer("fine"), bumpLayer({})});
  EXPECT_EQ(stack->output().rest.triangles.size(), 2 * character->mesh.triangles.size());
  EXPECT_EQ(stack->maxVertices(), stack->output().rest.vertexCount());
  StackRunner runner(stack);
  runner.setPose(poseAt(*character, character->clips[0], 0.5), 0.5);
  for (int again = 0; again < 2; ++again) {
    const SkinFrame& frame = runner.evaluate();
    EXPECT_EQ(frame.vertexCount(), stack->output().rest.vertexCount());
    EXPECT_EQ(frame.triangles().size(), stack->output().rest.triangles.size());
    for (const Vec3f& p : frame.positions()) ASSERT_TRUE(p.allFinite());
  }
}

TEST(Stack, EvaluateAllocatesNothing) {
  const ThreadLimit one(1);  // the thread pool may allocate when it starts
  const auto character = riggedTube();
  StackRunner runner(stackOf(character, {morphLayer(), skinningLayer({}), springLayer("spring"),
                                         refiningLayer("fine"), bumpLayer({})}));
  std::vector<Pose> poses;
  for (int i = 0; i < 8; ++i) poses.push_back(poseAt(*character, character->clips[0], i / 8.0));
  std::vector<double> seconds(5, 0.0);
  runner.evaluate();
  const std::size_t before = testing_support::allocationCount();
  for (const Pose& pose : poses) {
    runner.setPose(pose, 0.1);
    runner.step(1.0 / 240, seconds);
    runner.evaluate(0.5, seconds);
  }
  runner.reset();
  EXPECT_EQ(testing_support::allocationCount(), before);
  EXPECT_GT(seconds[1], 0);
}

TEST(Stack, StateIsSavedRestoredAndHashed) {
  const auto character = riggedTube();
  const auto stack =
      stackOf(character, {skinningLayer({}), springLayer("a", 2), springLayer("b", 5)});
  StackRunner first(stack);
  StackRunner second(stack);
  first.reset();
  second.reset();
  for (int i = 1; i <= 20; ++i) {
    first.setPose(poseAt(*character, character->clips[0], i / 20.0), i / 20.0);
    first.step(0.05);
  }
  StateWriter saved;
  first.saveState(saved);
  EXPECT_EQ(saved.bytes().size(), 2u * 12 * sizeof(double));
  second.setPose(first.pose(), 1);
  EXPECT_FALSE(std::ranges::equal(first.evaluate().positions(), second.evaluate().positions()));
  StateReader reader(saved.bytes());
  ASSERT_TRUE(second.restoreState(reader).ok());
  EXPECT_TRUE(std::ranges::equal(first.evaluate().positions(), second.evaluate().positions()));
  StateWriter again;
  second.saveState(again);
  EXPECT_EQ(again.hash(), saved.hash());
  first.step(0.05);
  StateWriter later;
  first.saveState(later);
  EXPECT_NE(later.hash(), saved.hash());
}

TEST(Stack, StateOfTheWrongLengthIsAnErrorAtEveryLength) {
  const auto stack = stackOf(riggedTube(), {skinningLayer({}), springLayer("a")});
  StackRunner runner(stack);
  StateWriter saved;
  runner.saveState(saved);
  for (std::size_t length = 0; length < saved.bytes().size(); ++length) {
    StateReader reader(std::span(saved.bytes()).first(length));
    EXPECT_FALSE(runner.restoreState(reader).ok()) << length;
  }
  std::vector<std::uint8_t> longer = saved.bytes();
  longer.push_back(0);
  StateReader reader(longer);
  const Result<void> restored = runner.restoreState(reader);
  ASSERT_FALSE(restored.ok());
  EXPECT_EQ(restored.error().text(), "state: saved state is of another stack");
}

TEST(Stack, RunnersOfOneStackDoNotShareTheirStates) {
  const auto character = riggedTube();
  const auto stack = stackOf(character, {skinningLayer({}), springLayer("a")});
  StackRunner moved(stack);
  StackRunner still(stack);
  moved.reset();
  still.reset();
  const std::span<const Vec3f> rest = still.evaluate().positions();
  const std::vector<Vec3f> before(rest.begin(), rest.end());
  moved.setPose(poseAt(*character, character->clips[1], 1), 1);
  for (int i = 0; i < 10; ++i) moved.step(0.01);
  EXPECT_TRUE(std::ranges::equal(still.evaluate().positions(), before));
}

TEST(Stack, AllThreadCountsGiveTheSameBits) {
  const auto character = riggedTube(120, 96);
  std::vector<std::uint64_t> hashes;
  for (const int threads : {1, 2, 8}) {
    const ThreadLimit limit(threads);
    StackRunner runner(stackOf(character, {morphLayer(), skinningLayer({}), bumpLayer({})}));
    Hash64 hash;
    for (int i = 0; i < 5; ++i) {
      runner.setPose(poseAt(*character, character->clips[1], i / 4.0), i / 4.0);
      hash.addSpan(runner.evaluate().positions());
      hash.addSpan(runner.evaluate().normals());
    }
    hashes.push_back(hash.value());
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

}  // namespace
}  // namespace derm::stack_test
