// Wrinkle maps that appear with expressions: the layer, and what a recipe makes of it.
#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/stack.h"
#include "derm/face/arkit_shapes.h"
#include "derm/face/detail_layer.h"
#include "derm/face/face_rig.h"
#include "derm/io/png.h"
#include "derm/scene/scene.h"

#include "support/test_folder.h"

namespace derm::detail_scene_test {
namespace {

using Displacements = std::vector<PointDisplacement>;

/// A head of the cast with a rig, posed by its control points.
class RiggedHead {
 public:
  explicit RiggedHead(std::string_view name) {
    Diagnostics notes;
    Character made = makeCastMember(name).value();
    rig_ = addFaceRig(made, {.clips = false}, notes).value();
    poser_ = std::make_unique<FacePoser>(FacePoser::make(made, rig_).value());
    character = std::make_shared<const Character>(std::move(made));
    points = facePoints(character->points, character->mesh).value();
  }
  Pose posed(const Displacements& moves, const Quatf& turn = Quatf::Identity()) const {
    Pose out = character->restPose();
    poser_->pose(moves, out);
    out.local[rig_.head.index()].rotation = turn * out.local[rig_.head.index()].rotation;
    return out;
  }
  /// The channel of each pose, in this one.
  std::vector<float> channel(const DetailDesc& desc, std::string_view name,
                             const Pose& pose) const {
    Diagnostics notes;
    const std::vector<LayerFactory> layers = {morphLayer(), skinningLayer({}),
                                              detailLayer("lines", desc)};
    StackRunner runner(Stack::bind(character, layers, notes).value());
    runner.setPose(pose, 0);
    const auto values = runner.evaluate().channel(detailChannel("lines", name));
    return {values.begin(), values.end()};
  }

  std::shared_ptr<const Character> character;
  FacePoints points;

 private:
  FaceRig rig_;
  std::unique_ptr<FacePoser> poser_;
};

const RiggedHead& headA() {
  static const RiggedHead head("head-a");
  return head;
}

DetailDesc raiseAndFrown() {
  return {.poses = {{.name = "raise", .expression = "surprise"},
                    {.name = "frown", .expression = "anger"}}};
}

float largest(const std::vector<float>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

TEST(DetailLayer, NothingShowsAtRestAndAllOfItInThePose) {
  const RiggedHead& head = headA();
  const DetailDesc desc = raiseAndFrown();
  EXPECT_LT(largest(head.channel(desc, "raise", head.posed({}))), 1e-12);
  const Displacements surprise = expressionDisplacements("surprise", head.points).value();
  const std::vector<float> shown = head.channel(desc, "raise", head.posed(surprise));
  EXPECT_GT(largest(shown), 0.95f);
  EXPECT_LE(largest(shown), 1.0f);
  // Half of the way shows a quarter of it (eq. 5.12).
  Displacements half = surprise;
  for (PointDisplacement& d : half) d.displacement_m *= 0.5;
  const std::vector<float> less = head.channel(desc, "raise", head.posed(half));
  for (std::size_t v = 0; v < shown.size(); ++v) EXPECT_NEAR(less[v], 0.25f * shown[v], 2e-3f);
}

TEST(DetailLayer, OneBrowRaisedShowsLinesAboveItAlone) {
  const RiggedHead& head = headA();
  const Displacements left = faceShapeDisplacements("browOuterUpLeft", head.points).value();
  const DetailDesc desc = {
      .poses = {{.name = "raise", .expression = "browOuterUpLeft+browOuterUpRight"}}};
  const std::vector<float> shown = head.channel(desc, "raise", head.posed(left));
  EXPECT_GT(largest(shown), 0.9f);
  const auto& at = head.character->mesh.positions;
  const float brow = static_cast<float>(head.points.at("4.6").x());  // the right one's outer end
  for (std::size_t v = 0; v < shown.size(); ++v) {
    const bool elsewhere =
        at[v].x() < 0.5f * brow || at[v].y() < static_cast<float>(head.points.at("9.3").y());
    EXPECT_TRUE(!elsewhere || shown[v] < 1e-3f) << v << ": " << shown[v];
  }
}

TEST(DetailLayer, APoseMayBeAnInstantOfAClip) {
  Diagnostics notes;
  Character made = makeCastMember("head-a").value();
  ASSERT_TRUE(addFaceRig(made, {}, notes));
  const auto head = std::make_shared<const Character>(std::move(made));
  const Clip& clip = head->clips[head->findClip("surprise").value()];
  const double held_s = 0.5 * double(clip.duration_s());
  const auto shown = [&](DetailPose pose) {
    pose.name = "raise";
    const std::vector<LayerFactory> layers = {morphLayer(), skinningLayer({}),
                                              detailLayer("lines", {.poses = {pose}})};
    StackRunner runner(Stack::bind(head, layers, notes).value());
    Pose at = head->restPose();
    sampleClip(clip, static_cast<float>(held_s), at);
    runner.setPose(at, 0);
    const auto values = runner.evaluate().channel("lines.raise");
    return std::vector<float>(values.begin(), values.end());
  };
  const std::vector<float> by_clip = shown({.clip = "surprise", .at_s = held_s});
  const std::vector<float> by_name = shown({.expression = "surprise"});
  EXPECT_GT(largest(by_clip), 0.95f);
  for (std::size_t v = 0; v < by_clip.size(); ++v) EXPECT_NEAR(by_clip[v], by_name[v], 5e-3f);
}

TEST(DetailLayer, TurningTheHeadChangesNothing) {
  const RiggedHead& head = headA();
  const Displacements anger = expressionDisplacements("anger", head.points).value();
  const Quatf turn(Eigen::AngleAxisf(0.7f, Vec3f(0.3f, 0.9f, 0.1f).normalized()));
  const auto still = head.channel(raiseAndFrown(), "frown", head.posed(anger));
  const auto turned = head.channel(raiseAndFrown(), "frown", head.posed(anger, turn));
  ASSERT_EQ(still.size(), turned.size());
  for (std::size_t v = 0; v < still.size(); ++v) EXPECT_NEAR(still[v], turned[v], 2e-3f);
}

TEST(DetailLayer, MorphTargetsMoveTheFaceAsWell) {
  Diagnostics notes;
  const auto woman = std::make_shared<const Character>(makeCastMember("woman").value());
  const std::vector<LayerFactory> layers = {
      morphLayer(), skinningLayer({}),
      detailLayer("lines", {.poses = {{.name = "raise", .expression = "surprise"}}})};
  StackRunner runner(Stack::bind(woman, layers, notes).value());
  Pose pose = woman->restPose();
  const auto surprise = std::find_if(woman->morphs.begin(), woman->morphs.end(),
                                     [](const MorphTarget& m) { return m.name == "surprise"; });
  ASSERT_NE(surprise, woman->morphs.end());
  pose.morph_weights[static_cast<std::size_t>(surprise - woman->morphs.begin())] = 1;
  runner.setPose(pose, 0);
  const auto values = runner.evaluate().channel("lines.raise");
  EXPECT_GT(*std::max_element(values.begin(), values.end()), 0.8f);
}

TEST(DetailLayer, GroupsWrinkleTogether) {
  const RiggedHead& head = headA();
  const Displacements left = faceShapeDisplacements("browOuterUpLeft", head.points).value();
  DetailDesc desc = {
      .poses = {{.name = "raise", .expression = "browOuterUpLeft+browOuterUpRight"}}};
  desc.groups = {"brows"};
  const std::vector<float> shown = head.channel(desc, "raise", head.posed(left));
  const auto& at = head.character->mesh.positions;
  float on_the_right = 0;
  for (std::size_t v = 0; v < shown.size(); ++v)
    if (at[v].x() < static_cast<float>(head.points.at("4.4").x()))
      on_the_right = std::max(on_the_right, shown[v]);
  EXPECT_GT(on_the_right, 0.1f);
}

TEST(DetailLayer, WhatIsWrongIsNamed) {
  const auto textOf = [](const DetailDesc& desc) {
    Diagnostics notes;
    const std::vector<LayerFactory> layers = {morphLayer(), skinningLayer({}),
                                              detailLayer("lines", desc)};
    const auto bound = Stack::bind(headA().character, layers, notes);
    return bound.ok() ? std::string() : bound.error().text();
  };
  EXPECT_NE(textOf({}).find("no poses"), std::string::npos) << textOf({});
  const std::string unknown = textOf({.poses = {{.name = "p", .expression = "surprize"}}});
  EXPECT_NE(unknown.find("pose \"p\""), std::string::npos) << unknown;
  const std::string region =
      textOf({.poses = {{.name = "p", .expression = "joy"}}, .groups = {"brwos"}});
  EXPECT_NE(region.find("brows"), std::string::npos) << region;
  const std::string twice =
      textOf({.poses = {{.name = "p", .expression = "joy"}, {.name = "p", .expression = "anger"}}});
  EXPECT_NE(twice.find("two poses"), std::string::npos) << twice;
  const std::string still = textOf({.poses = {{.name = "p", .expression = "tongueOut"}}});
  EXPECT_FALSE(still.empty());
}

using DetailRecipe = testing_support::FolderTest;

TEST_F(DetailRecipe, MapsGoToTheSkinsMaterialWithTheirChannels) {
  const std::vector<std::uint8_t> png = encodePng(Rgba8Image(4, 4, Rgba8{128, 218, 218, 255}));
  std::ofstream(folder_ / "raise.png", std::ios::binary)
      .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
  const auto opened = [&](const std::string& keys) -> Result<Scene> {
    std::ofstream(folder_ / "r.toml")
        << "character = \"cast:woman\"\n[[layer]]\ntype = \"detail\"\nname = \"lines\"\n"
        << keys;
    Diagnostics notes;
    DERM_TRY(const Recipe recipe, loadRecipe(folder_ / "r.toml"));
    return openScene(recipe, {}, notes);
  };
  const std::string poses =
      R"(poses = [{ name = "raise", expression = "surprise", map = "raise.png", strength = 2 }])";
  Result<Scene> scene = opened(poses);
  ASSERT_TRUE(scene.ok()) << scene.error().text();
  const Character& character = *scene->character();
  std::vector<DetailMap> maps;
  for (const Material& m : character.materials)
    maps.insert(maps.end(), m.detail_maps.begin(), m.detail_maps.end());
  ASSERT_EQ(maps.size(), 1u);
  EXPECT_EQ(maps[0].channel, "lines.raise");
  EXPECT_EQ(maps[0].strength, 2);
  EXPECT_EQ(character.images[static_cast<std::size_t>(maps[0].image)].bytes, png);
  EXPECT_EQ(scene->stack().channels(), std::vector<std::string>{"lines.raise"});

  // Maps with green downwards are turned into glTF's.
  scene = opened(poses + "\ngreen = \"down\"\n");
  ASSERT_TRUE(scene.ok()) << scene.error().text();
  EXPECT_NE(scene->character()->images.back().bytes, png);

  const Result<Scene> missing =
      opened(R"(poses = [{ name = "raise", expression = "surprise", map = "none.png" }])");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().text().find("none.png"), std::string::npos) << missing.error().text();
  const Result<Scene> neither = opened(R"(poses = [{ name = "raise" }])");
  ASSERT_FALSE(neither.ok());
  EXPECT_NE(neither.error().text().find("needs an expression"), std::string::npos);
}

}  // namespace
}  // namespace derm::detail_scene_test
