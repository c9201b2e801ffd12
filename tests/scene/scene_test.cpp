#include "derm/scene/scene.h"

#include <algorithm>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "derm/scene/recipe.h"

#include "support/compare.h"
#include "support/posed.h"
#include "support/test_layer_types.h"

namespace derm::scene_test {
namespace {

using testing_support::maxDistance;
using testing_support::poseAt;
using testing_support::riggedTube;
using testing_support::skinned;
using testing_support::testLayerTypes;

Result<Scene> opened(std::string_view text, Diagnostics& notes,
                     std::shared_ptr<const Character> character = riggedTube()) {
  DERM_TRY(const Recipe recipe, parseRecipe(text, "r.toml", testLayerTypes()));
  return openScene(recipe, {.character = std::move(character), .types = &testLayerTypes()}, notes);
}

std::string errorOf(std::string_view text,
                    std::shared_ptr<const Character> character = riggedTube()) {
  Diagnostics notes;
  const Result<Scene> scene = opened(text, notes, std::move(character));
  return scene.ok() ? "no error" : scene.error().text();
}

std::vector<double> timesOf(std::string_view text) {
  Diagnostics notes;
  const Result<Scene> scene = opened(text, notes);
  EXPECT_TRUE(scene.ok()) << scene.error().text();
  return {scene->frameTimes().begin(), scene->frameTimes().end()};
}

TEST(Scene, FramesIncludeBothEndsWhereTheyFallOnFrames) {
  EXPECT_EQ(timesOf("fps = 4"), (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(timesOf("fps = 3").size(), 4u);
  EXPECT_EQ(timesOf("fps = 2.5"), (std::vector<double>{0, 0.4, 0.8}));
  EXPECT_EQ(timesOf("fps = 4\nrange_s = [0.25, 0.5]"), (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(timesOf("fps = 4\nrange_s = [0.5, 0.5]"), (std::vector<double>{0.5}));
  EXPECT_EQ(timesOf("fps = 0.1"), (std::vector<double>{0}));
}

TEST(Scene, ALoopLeavesTheEndOut) {
  EXPECT_EQ(timesOf("fps = 4\nloop = true"), (std::vector<double>{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(timesOf("fps = 2.5\nloop = true"), (std::vector<double>{0, 0.4, 0.8}));
  EXPECT_EQ(timesOf("fps = 4\nloop = true\nrange_s = [1, 1]"), (std::vector<double>{1}));
}

TEST(Scene, FloatLengthsDoNotLoseTheLastFrame) {
  Character c = *riggedTube();
  for (Track& t : c.clips[0].tracks) t.times_s.back() = 50.0f / 60.0f;  // above 50/60 in float
  Diagnostics notes;
  const Result<Scene> scene = opened("fps = 60", notes, std::make_shared<const Character>(c));
  ASSERT_TRUE(scene.ok());
  EXPECT_EQ(scene->frameTimes().size(), 51u);
}

TEST(Scene, ClipsAreFoundByNameAndNumber) {
  Diagnostics notes;
  EXPECT_EQ(opened("", notes)->clip()->name, "bend");
  EXPECT_EQ(opened("clip = \"stretch\"", notes)->clip()->name, "stretch");
  EXPECT_EQ(opened("clip = 1", notes)->clip()->name, "stretch");
  EXPECT_EQ(errorOf("clip = \"stretsh\""),
            "r.toml:1:8: clip: no clip \"stretsh\"; did you mean \"stretch\"?");
  EXPECT_EQ(errorOf("clip = 2"), "r.toml:1:8: clip: no clip 2; there are 2");
  EXPECT_EQ(opened("clip = \"1\"", notes)->clip()->name, "stretch")
      << "text that names no clip is read as its number, as the command line gives it";
  EXPECT_EQ(opened("clip = \"\"\nrange_s = [0, 1]\nfps = 10", notes)->clip(), nullptr);
  EXPECT_EQ(opened("clip = \"\"\nrange_s = [0, 1]\nfps = 10", notes)->frameTimes().size(), 11u)
      << "the rest pose is held";
  EXPECT_EQ(errorOf("clip = \"7\""),
            "r.toml:1:8: clip: no clip \"7\"; there are \"bend\", \"stretch\"");
}

TEST(Scene, WithoutLayersAFrameIsExactlySkinning) {
  for (const auto& [word, method] :
       {std::pair("linear", SkinningMethod::Linear), std::pair("rigid", SkinningMethod::Rigid),
        std::pair("dual-quaternion", SkinningMethod::DualQuaternion)}) {
    const auto character = riggedTube();
    Diagnostics notes;
    Result<Scene> scene =
        opened("fps = 10\n[skinning]\nmethod = \"" + std::string(word) + "\"", notes, character);
    ASSERT_TRUE(scene.ok());
    for (std::size_t i = 0; i < scene->frameTimes().size(); ++i) {
      const Pose pose = poseAt(*character, character->clips[0], scene->frameTimes()[i]);
      const TriMesh want = skinned(*character, pose, method);
      EXPECT_TRUE(std::ranges::equal(scene->frame(i).positions(), want.positions));
    }
  }
}

TEST(Scene, LayersWorkInOrderAndDisabledOnesDoNot) {
  Diagnostics notes;
  const std::string recipe =
      "[[layer]]\ntype = \"bump\"\n[[layer]]\ntype = \"spring\"\nenabled = false\n";
  Result<Scene> scene = opened(recipe, notes);
  ASSERT_TRUE(scene.ok());
  ASSERT_EQ(scene->stack().layers().size(), 3u);
  EXPECT_EQ(scene->stack().layers()[2]->name(), "bump");
  EXPECT_FALSE(scene->stack().stateful());
}

TEST(Scene, ALoopedSceneGoesRoundByFrameNumber) {
  Diagnostics notes;
  Result<Scene> scene =
      opened("fps = 7\nloop = true\npreroll_s = 0.3\n[[layer]]\ntype = \"spring\"\n", notes);
  ASSERT_TRUE(scene.ok());
  std::vector<std::vector<Vec3f>> first_turn;
  for (std::size_t i = 0; i < 7; ++i) {
    const auto p = scene->frame(i).positions();
    first_turn.emplace_back(p.begin(), p.end());
  }
  for (std::size_t i = 7; i < 30; ++i)
    EXPECT_TRUE(std::ranges::equal(scene->frame(i).positions(), first_turn[i % 7])) << i;
}

TEST(Scene, ThePlainStackIsLinearSkinningWhateverTheRecipeSays) {
  const auto character = riggedTube();
  Diagnostics notes;
  Result<Scene> scene = opened(
      "[skinning]\nmethod = \"dual-quaternion\"\n[[layer]]\ntype = \"bump\"\n", notes, character);
  ASSERT_TRUE(scene.ok());
  StackRunner plain(scene->linearReferenceStack().value());
  const Pose pose = poseAt(*character, character->clips[0], 0.7);
  plain.setPose(pose, 0.7);
  const TriMesh want = skinned(*character, pose, SkinningMethod::Linear);
  EXPECT_TRUE(std::ranges::equal(plain.evaluate().positions(), want.positions));
}

TEST(Scene, RangesThatLeaveTheClipAreCutAndNoted) {
  Diagnostics notes;
  const Result<Scene> scene = opened("fps = 4\nrange_s = [0.5, 9]", notes);
  ASSERT_TRUE(scene.ok());
  EXPECT_EQ(scene->frameTimes().back(), 1);
  EXPECT_EQ(notes.count("range-cut"), 1u);
  EXPECT_EQ(errorOf("\nrange_s = [2, 3]"),
            "r.toml:2:11: range_s: lies outside the clip \"bend\", which lasts 1.0 s");
  EXPECT_EQ(errorOf("range_s = [-3, -2]"),
            "r.toml:1:11: range_s: lies outside the clip \"bend\", which lasts 1.0 s");
}

TEST(Scene, AClipWithoutLengthGivesOneFrame) {
  Character c = *riggedTube();
  c.clips = {{"still", {}}};
  Diagnostics notes;
  const Result<Scene> scene = opened("", notes, std::make_shared<const Character>(c));
  ASSERT_TRUE(scene.ok());
  EXPECT_EQ(scene->frameTimes().size(), 1u);
}

TEST(Scene, WithoutClipsTheRestPoseIsHeldOverTheRange) {
  Character c = *riggedTube();
  c.clips.clear();
  const auto character = std::make_shared<const Character>(c);
  Diagnostics notes;
  EXPECT_EQ(opened("", notes, character)->frameTimes().size(), 1u);
  Result<Scene> held = opened("fps = 10\nrange_s = [0, 2]", notes, character);
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(held->frameTimes().size(), 21u);
  EXPECT_LT(maxDistance(held->frame(20).positions(), c.mesh.positions), 1e-5f);
  EXPECT_EQ(errorOf("clip = \"walk\"", character),
            "r.toml:1:8: clip: no clip \"walk\"; there are none");
}

TEST(Scene, ACharacterWithoutASkinIsAllowed) {
  Character bare;
  bare.name = "bare";
  bare.mesh = shelf::sphere(8, 12, 1);
  addDefaultParts(bare);
  Diagnostics notes;
  Result<Scene> scene =
      opened("[[layer]]\ntype = \"bump\"", notes, std::make_shared<const Character>(bare));
  ASSERT_TRUE(scene.ok()) << scene.error().text();
  EXPECT_GT(maxDistance(scene->frame(0).positions(), bare.mesh.positions), 0.01f);
}

TEST(Scene, MissingJointsAndGroupsAreNamedWhereTheyWereWritten) {
  const std::string head = "[[layer]]\ntype = \"keys\"\n";
  EXPECT_EQ(errorOf(head + "joint = \"joint_2\""),
            "r.toml:3:9: layer[0].joint: no joint \"joint_2\"; did you mean \"joint2\", \"joint0\" "
            "or \"joint1\"?");
  EXPECT_EQ(errorOf(head + "ends = [\"joint1\", \"elbow\"]"),
            "r.toml:3:19: layer[0].ends: no joint \"elbow\"; there are \"joint0\", \"joint1\", "
            "\"joint2\"");
  EXPECT_EQ(errorOf(head + "group = \"belly\""),
            "r.toml:3:9: layer[0].group: no vertex group \"belly\"; there are none");
  EXPECT_EQ(errorOf("fps = 1\n" + head + "name = \"x\"\nlabel = \"fail\""),
            "r.toml:2:1: layer \"x\": asked to fail");
}

TEST(Scene, ARecipeThatPointsNowhereSaysWhere) {
  Diagnostics notes;
  const auto error_of = [&](std::string_view text) {
    const Recipe recipe = parseRecipe(text, "/nowhere/r.toml", testLayerTypes()).value();
    const Result<Scene> scene = openScene(recipe, {.types = &testLayerTypes()}, notes);
    return scene.ok() ? "no error" : scene.error().text();
  };
  const std::string missing = error_of("fps = 30\ncharacter = \"gone.glb\"");
  EXPECT_TRUE(missing.starts_with("/nowhere/r.toml:2:13: character: /nowhere/gone.glb: "))
      << missing;
  EXPECT_EQ(error_of("fps = 30"), "/nowhere/r.toml: character: missing: no character is named");
  const std::string cast = error_of("character = \"cast:cylindre\"");
  EXPECT_TRUE(cast.starts_with("/nowhere/r.toml:1:13: character: ")) << cast;
  EXPECT_NE(cast.find("cylinder"), std::string::npos) << cast;
}

TEST(Scene, CastMembersAreFound) {
  Diagnostics notes;
  Recipe recipe;
  recipe.character = "cast:cylinder";
  const Result<Scene> scene = openScene(recipe, {}, notes);
  ASSERT_TRUE(scene.ok()) << scene.error().text();
  EXPECT_GT(scene->character()->mesh.vertexCount(), 100u);
}

TEST(Scene, RecipesMadeInMemoryAreCheckedToo) {
  Diagnostics notes;
  const auto error_of = [&](const Recipe& recipe) {
    const Result<Scene> scene =
        openScene(recipe, {.character = riggedTube(), .types = &testLayerTypes()}, notes);
    return scene.ok() ? "no error" : scene.error().text();
  };
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), 1e9}) {
    Recipe recipe;
    recipe.fps = bad;
    EXPECT_EQ(error_of(recipe), "fps: expected a number, 0.001 to 1000 [Hz]");
  }
  Recipe backwards;
  backwards.range_s = {1, 0};
  EXPECT_EQ(error_of(backwards), "range_s: a range ends after it starts");
  Recipe twins;
  twins.layers = {{.type = "bump", .name = "a"}, {.type = "bump", .name = "a"}};
  EXPECT_EQ(error_of(twins), "layer[3]: two layers are named \"a\"");
  Recipe unknown;
  unknown.layers = {{.type = "bumb", .name = "a"}};
  EXPECT_EQ(error_of(unknown), "layer: unknown layer type \"bumb\"; did you mean \"bump\"?");
  Recipe many;
  many.layers.resize(1000000, {.type = "bump", .name = "a"});
  EXPECT_EQ(error_of(many), "layer: 1000000 layers; at most 1000 are accepted");
}

TEST(Scene, TooManyFramesAreRefusedBeforeAnyIsMade) {
  Character c = *riggedTube();
  for (Track& t : c.clips[0].tracks) t.times_s.back() = 1e6f;
  EXPECT_EQ(errorOf("fps = 60", std::make_shared<const Character>(c)),
            "r.toml:1:7: fps: 60000000 frames; at most 100000 are made at once");
}

}  // namespace
}  // namespace derm::scene_test
