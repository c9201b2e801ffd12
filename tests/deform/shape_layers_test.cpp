#include <gtest/gtest.h>

#include "derm/deform/playback.h"
#include "derm/deform/wrinkles.h"

#include "deform/wrinkle_rig.h"
#include "support/compare.h"
#include "support/posed.h"
#include "support/test_layers.h"

/// Layers before skinning, controls and channels: what faces stand on.
namespace derm::shape_layers_test {
namespace {

using testing_support::PlainLayer;
using testing_support::refiningLayer;
using testing_support::riggedTube;
using testing_support::stackOf;
using testing_support::TestBinding;

/// A layer that calls a function; `channels` are what it writes.
class CallingBinding final : public LayerBinding {
 public:
  CallingBinding(std::string name, PlainLayer::Body body, std::vector<std::string> channels,
                 bool reads_shape)
      : LayerBinding(std::move(name), "calling"),
        body_(std::move(body)),
        channels_(std::move(channels)),
        reads_shape_(reads_shape) {}
  std::vector<std::string> channels() const override { return channels_; }
  bool readsShapedRest() const override { return reads_shape_; }
  std::unique_ptr<Layer> makeLayer() const override { return std::make_unique<PlainLayer>(body_); }

 private:
  PlainLayer::Body body_;
  std::vector<std::string> channels_;
  bool reads_shape_;
};

LayerFactory calling(std::string name, PlainLayer::Body body,
                     std::vector<std::string> channels = {}, bool reads_shape = false) {
  return [=](const BindInput&) -> BindResult {
    return std::shared_ptr<const LayerBinding>(
        std::make_shared<CallingBinding>(name, body, channels, reads_shape));
  };
}

void raise(SkinFrame& skin, const Vec3f& by) {
  skin.materialise();
  skin.beforeMoving();
  for (Vec3f& p : skin.positions()) p += by;
}

std::vector<Vec3f> positionsOf(const SkinFrame& frame) {
  return {frame.positions().begin(), frame.positions().end()};
}

TEST(ShapeLayers, WhatLiesBelowSkinningIsPosedWithTheSkin) {
  const auto c = riggedTube();
  const Vec3f by(0.25f, 0, 0);
  StackRunner runner(
      stackOf(c, {calling("shape", [&](const FrameInput&, SkinFrame& skin) { raise(skin, by); }),
                  skinningLayer({})}));
  Character moved = *c;
  for (Vec3f& p : moved.mesh.positions) p += by;
  Pose pose = c->restPose();
  pose.local[1].rotation = Quatf(Eigen::AngleAxisf(0.7f, Vec3f::UnitX()));
  StackRunner wanted(stackOf(std::make_shared<const Character>(moved), {skinningLayer({})}));
  runner.setPose(pose, 0);
  wanted.setPose(pose, 0);
  EXPECT_LE(
      testing_support::maxDistance(positionsOf(runner.evaluate()), wanted.evaluate().positions()),
      1e-6);
}

TEST(ShapeLayers, TheShapedRestIsWhatTheyHandOn) {
  const auto c = riggedTube();
  std::vector<Vec3f> seen;
  const auto read = [&](const FrameInput&, SkinFrame& skin) {
    seen.assign(skin.shapedRest().begin(), skin.shapedRest().end());
  };
  Pose pose = c->restPose();
  pose.local[1].rotation = Quatf(Eigen::AngleAxisf(0.7f, Vec3f::UnitX()));
  StackRunner shaped(
      stackOf(c, {calling("shape",
                          [&](const FrameInput&, SkinFrame& skin) {
                            raise(skin, {0, 0, 0.1f});
                          }),
                  refiningLayer("finer"), skinningLayer({}), calling("read", read, {}, true)}));
  shaped.setPose(pose, 0);
  shaped.evaluate();
  ASSERT_EQ(seen.size(), shaped.stack().shape().rest.vertexCount());
  EXPECT_GT(seen.size(), c->mesh.vertexCount()) << "the finer surface is the one that is skinned";
  for (std::size_t v = 0; v < c->mesh.vertexCount(); ++v)
    ASSERT_EQ(seen[v], Vec3f(c->mesh.positions[v] + Vec3f(0, 0, 0.1f))) << v;
  StackRunner plain(stackOf(c, {skinningLayer({}), calling("read", read, {}, true)}));
  plain.setPose(pose, 0);
  plain.evaluate();
  EXPECT_TRUE(seen.empty()) << "nothing shapes it: it is the rest surface";
}

TEST(ShapeLayers, FoldsInTheBindPoseAreSkinnedWithTheRest) {
  // A morph squeezes the sheet before it is skinned; folds below skinning see that.
  using namespace testing_support;
  Character c = squeezable(sheet(16));
  MorphTarget squeeze{.name = "squeeze"};
  for (std::uint32_t v = 0; v < c.mesh.vertexCount(); ++v) {
    squeeze.vertices.push_back(v);
    squeeze.positions.push_back(Vec3f(-0.2f * c.mesh.positions[v].x(), 0, 0));
  }
  c.morphs = {squeeze};
  c.instances[0].morph_count = 1;
  const auto shared = std::make_shared<const Character>(c);
  StackRunner runner(
      stackOf(shared, {morphLayer(), wrinklesLayer({.tools = {sheetTool()}}), skinningLayer({})}));
  Pose pose = shared->restPose();
  runner.setPose(pose, 0);
  float flat = 0;
  for (const Vec3f& p : runner.evaluate().positions()) flat = std::max(flat, p.y());
  EXPECT_LE(flat, 1e-6f);
  pose.morph_weights = {1};
  runner.setPose(pose, 0);
  float folded = 0;
  for (const Vec3f& p : runner.evaluate().positions()) folded = std::max(folded, p.y());
  EXPECT_GT(folded, 0.01f);
  EXPECT_GT(runner.find<WrinklesLayer>("wrinkles")->tool(0).fold.spare, 0.1);
}

TEST(Channels, AreZeroAtFirstWrittenByOneLayerAndReadByAnother) {
  const auto c = riggedTube();
  std::vector<float> seen;
  bool had_other = true;
  StackRunner runner(
      stackOf(c, {calling("brow",
                          [](const FrameInput& in, SkinFrame& skin) {
                            const std::span<float> brow = skin.channel("brow");
                            for (float v : brow) ASSERT_EQ(v, 0.0f);
                            for (std::size_t v = 0; v < brow.size(); ++v)
                              brow[v] = static_cast<float>(in.time_s) * static_cast<float>(v);
                          },
                          {"brow"}),
                  skinningLayer({}), calling("read", [&](const FrameInput&, SkinFrame& skin) {
                    seen.assign(skin.channel("brow").begin(), skin.channel("brow").end());
                    had_other = !skin.channel("other").empty();
                  })}));
  for (const double time_s : {1.0, 2.0}) {
    runner.setPose(c->restPose(), time_s);
    const SkinFrame& frame = runner.evaluate();
    ASSERT_EQ(frame.channelNames().size(), 1u);
    ASSERT_EQ(seen.size(), c->mesh.vertexCount());
    EXPECT_EQ(seen[5], static_cast<float>(5 * time_s));
    EXPECT_EQ(frame.channel("brow")[5], static_cast<float>(5 * time_s));
    EXPECT_FALSE(had_other);
  }
}

TEST(Channels, GoOnToTheVerticesThatALayerAdds) {
  const auto c = riggedTube();
  StackRunner runner(stackOf(c, {calling("height",
                                         [&](const FrameInput&, SkinFrame& skin) {
                                           const std::span<float> height = skin.channel("height");
                                           for (std::size_t v = 0; v < height.size(); ++v)
                                             height[v] = c->mesh.positions[v].y();
                                         },
                                         {"height"}),
                                 skinningLayer({}), refiningLayer("finer")}));
  runner.setPose(c->restPose(), 0);
  const SkinFrame& frame = runner.evaluate();
  const TriMesh& fine = runner.stack().output().rest;
  ASSERT_EQ(frame.channel("height").size(), fine.vertexCount());
  for (std::size_t v = 0; v < fine.vertexCount(); ++v)
    EXPECT_NEAR(frame.channel("height")[v], fine.positions[v].y(), 1e-5) << v;
}

/// A layer that shows where it works, to those who ask.
class MaskedBinding final : public LayerBinding {
 public:
  explicit MaskedBinding(std::string name) : LayerBinding(std::move(name), "masked") {}
  std::vector<std::string> masks() const override { return {name()}; }
  std::unique_ptr<Layer> makeLayer() const override {
    return std::make_unique<PlainLayer>([name = name()](const FrameInput&, SkinFrame& skin) {
      for (float& value : skin.channel(name)) value = 0.5f;
    });
  }
};

LayerFactory masked(std::string name) {
  return [name](const BindInput&) -> BindResult {
    return std::shared_ptr<const LayerBinding>(std::make_shared<MaskedBinding>(name));
  };
}

TEST(Channels, MasksAreThereOnlyWhereARunKeepsThem) {
  const auto c = riggedTube();
  StackRunner runner(stackOf(c, {masked("a"), skinningLayer({}), masked("b")}));
  runner.setPose(c->restPose(), 0);
  EXPECT_EQ(runner.stack().masks(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(runner.stack().channels().empty());
  EXPECT_TRUE(runner.evaluate().channelNames().empty());
  runner.keepChannels({"b", "later"});
  const SkinFrame& frame = runner.evaluate();
  EXPECT_TRUE(frame.channel("a").empty());
  ASSERT_EQ(frame.channel("b").size(), c->mesh.vertexCount());
  EXPECT_EQ(frame.channel("b")[3], 0.5f);
  Diagnostics notes;
  runner.change(
      runner.stack().rebind(std::array{skinningLayer({}), masked("later")}, notes).value());
  EXPECT_EQ(runner.evaluate().channel("later").size(), c->mesh.vertexCount()) << "an edit's";
  EXPECT_TRUE(runner.evaluate().channel("b").empty());
}

TEST(Controls, AreAnimatedByClipsReadByLayersAndOverruled) {
  Character c = *riggedTube();
  c.controls = {{.name = "smile", .preset = 0.25f}, {.name = "frown"}};
  c.clips = {{.name = "grin",
              .tracks = {{.channel = Channel::Control,
                          .interpolation = Interpolation::Linear,
                          .control = 0,
                          .times_s = {0, 1},
                          .values = {0, 1}}}}};
  ASSERT_TRUE(validate(c)) << validate(c).error().text();
  const auto shared = std::make_shared<const Character>(c);
  float smile = -1, frown = -1;
  const auto stack = stackOf(shared, {calling("face", [&](const FrameInput& in, SkinFrame&) {
                               smile = in.pose.controls[0];
                               frown = in.pose.controls[1];
                             })});
  Playback p = Playback::make(stack, &shared->clips[0], {.end_s = 1}).value();
  p.frameAt(0.5);
  EXPECT_EQ(smile, 0.5f);
  EXPECT_EQ(frown, 0.0f);
  p.setControl(1, 0.75f);
  p.setControl(0, 0.125f);
  p.frameAt(0.5);
  EXPECT_EQ(smile, 0.125f);
  EXPECT_EQ(frown, 0.75f);
  p.setControl(0, {});
  p.frameAt(1);
  EXPECT_EQ(smile, 1.0f);
  Playback rest = Playback::make(stack, nullptr, {.controls = {{1, 0.5f}}}).value();
  rest.frameAt(0);
  EXPECT_EQ(smile, 0.25f) << "its value at rest";
  EXPECT_EQ(frown, 0.5f);
  EXPECT_FALSE(Playback::make(stack, nullptr, {.controls = {{2, 0.5f}}}).ok());
}

}  // namespace
}  // namespace derm::shape_layers_test
