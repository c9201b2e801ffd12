#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/deform/flesh.h"
#include "derm/scene/scene.h"
#include "derm/volume/volume_layer.h"

#include "support/test_layer_types.h"

namespace derm::scene_change_test {
namespace {

std::shared_ptr<const Character> cat() {
  static const auto made = std::make_shared<const Character>(makeCastMember("cat").value());
  return made;
}

constexpr const char* kRunning = R"(character = "cast:cat"
clip = "run"
loop = true
[skinning]
method = "centre"
[[layer]]
type = "flesh"
name = "belly"
dominant = "spine_1"
ends = ["spine_5"]
frequency_hz = 5.0
from_m = [0, 0.295, -0.110]
to_m = [0, 0.295, 0.108]
[[layer]]
type = "volume"
)";

Scene opened(const Recipe& recipe) {
  Diagnostics notes;
  return openScene(recipe, {.character = cat()}, notes).value();
}

/// The recipe with another value of a layer's key.
Recipe with(Recipe recipe, std::size_t layer, std::string_view key, double value) {
  for (RecipeEntry& e : recipe.layers[layer].keys)
    if (e.key == key) {
      e.value.content = value;
      return recipe;
    }
  recipe.layers[layer].keys.push_back({.key = std::string(key), .value = {.content = value}});
  return recipe;
}

const FleshLayer& belly(const Scene& scene) { return *scene.playback().find<FleshLayer>("belly"); }

TEST(SceneChange, AnEditWhileTheCatRunsKeepsTheBellysPhase) {
  const Recipe recipe = parseRecipe(kRunning, "cat.toml").value();
  std::vector<Recipe> edits = {with(recipe, 0, "frequency_hz", 3),
                               with(recipe, 0, "damping_ratio", 0.5), with(recipe, 1, "sigma", 0.1),
                               recipe, recipe};
  std::swap(edits[3].layers[0], edits[3].layers[1]);  // a reorder
  edits[4].layers.insert(edits[4].layers.begin(), edits[4].layers[0]);
  edits[4].layers[0].name = "another";  // an insertion
  for (std::size_t i = 0; i < edits.size(); ++i) {
    SCOPED_TRACE(i);
    Scene scene = opened(recipe);
    for (int f = 0; f < 50; ++f) scene.playback().frameAt(f / 120.0);
    const Vec3d before = belly(scene).elongation_m(), speed = belly(scene).velocity_m_per_s();
    EXPECT_GT(before.norm(), 1e-4);
    Diagnostics notes;
    ASSERT_TRUE(scene.change(edits[i], notes));
    EXPECT_LE((belly(scene).elongation_m() - before).norm(), 1e-6);
    EXPECT_LE((belly(scene).velocity_m_per_s() - speed).norm(), 1e-6);
    EXPECT_EQ(scene.recipe(), edits[i]);
    for (int f = 50; f < 60; ++f)
      for (const Vec3f& p : scene.playback().frameAt(f / 120.0).positions())
        ASSERT_TRUE(p.allFinite());
  }
}

TEST(SceneChange, ABadEditChangesNothing) {
  const Recipe recipe = parseRecipe(kRunning, "cat.toml").value();
  Scene scene = opened(recipe);
  scene.playback().frameAt(0.2);
  const Stack* before = &scene.stack();
  Diagnostics notes;
  const Result<void> failed = scene.change(with(recipe, 0, "max_elongation", 7), notes);
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().text().find("max_elongation"), std::string::npos);
  EXPECT_EQ(&scene.stack(), before);
  EXPECT_EQ(scene.recipe(), recipe);
  Recipe other = recipe;
  other.character = "cast:arm";
  EXPECT_FALSE(scene.change(other, notes).ok());
}

TEST(SceneChange, NumbersOfTheVolumeLayerKeepItsTables) {
  const Recipe recipe = parseRecipe(kRunning, "cat.toml").value();
  Scene scene = opened(recipe), fresh = opened(with(recipe, 1, "sigma", 0.1));
  const LayerBinding* const skinning = scene.stack().find("skinning");
  const auto regions = scene.stack().find<VolumeLayerBinding>("volume")->regions();
  Diagnostics notes;
  ASSERT_TRUE(scene.change(with(recipe, 1, "sigma", 0.1), notes));
  EXPECT_EQ(scene.stack().find("skinning"), skinning);
  EXPECT_EQ(scene.stack().find<VolumeLayerBinding>("volume")->regions().data(), regions.data());
  const auto a = scene.playback().frameAt(0.1).positions();
  const auto b = fresh.playback().frameAt(0.1).positions();
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << "as bound anew";
}

TEST(SceneChange, LayersBeforeSkinningComeFirstWhateverTheTextsOrder) {
  Diagnostics notes;
  const Recipe recipe = parseRecipe(R"(character = "cast:cat"
[[layer]]
type = "bump"
name = "after"
[[layer]]
type = "bump"
name = "before"
before_skinning = true
)",
                                    "r.toml", testing_support::testLayerTypes())
                            .value();
  EXPECT_EQ(parseRecipe(writeRecipe(recipe), "r.toml", testing_support::testLayerTypes()).value(),
            recipe);
  const Scene scene =
      openScene(recipe, {.character = cat(), .types = &testing_support::testLayerTypes()}, notes)
          .value();
  std::vector<std::string> names;
  for (const auto& layer : scene.stack().layers()) names.push_back(layer->name());
  EXPECT_EQ(names, (std::vector<std::string>{"morphs", "before", "skinning", "after"}));
}

TEST(SceneChange, LayersThatNeedTheSkinPosedSaySo) {
  for (const char* layer :
       {"type = \"volume\"", "type = \"flesh\"\ndominant = \"spine_1\"\nends = [\"spine_5\"]"}) {
    Diagnostics notes;
    const Recipe recipe =
        parseRecipe(std::string("[[layer]]\n") + layer + "\nbefore_skinning = true\n", "r.toml")
            .value();
    const auto scene = openScene(recipe, {.character = cat()}, notes);
    ASSERT_FALSE(scene.ok());
    EXPECT_NE(scene.error().text().find("before_skinning"), std::string::npos)
        << scene.error().text();
  }
}

TEST(SceneChange, ControlsOfTheRecipeHoldAndWrongOnesAreNamed) {
  Character c = *cat();
  c.controls = {{.name = "smile"}};
  const auto shared = std::make_shared<const Character>(std::move(c));
  Diagnostics notes;
  const Recipe recipe = parseRecipe("[controls]\nsmile = 1\n", "r.toml").value();
  EXPECT_EQ(parseRecipe(writeRecipe(recipe), "r.toml").value(), recipe);
  Scene scene = openScene(recipe, {.character = shared}, notes).value();
  scene.frame(0);
  EXPECT_EQ(scene.playback().pose().controls, std::vector<float>{1});
  ASSERT_TRUE(scene.change(parseRecipe("[controls]\nsmile = 0.5\n", "r.toml").value(), notes));
  scene.frame(0);
  EXPECT_EQ(scene.playback().pose().controls, std::vector<float>{0.5f});
  const auto wrong = openScene(parseRecipe("[controls]\nsmlie = 1\n", "r.toml").value(),
                               {.character = shared}, notes);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().text(),
            "r.toml:2:9: controls.smlie: no control \"smlie\"; did you mean \"smile\"?");
  EXPECT_FALSE(parseRecipe("[controls]\nsmile = \"x\"\n", "r.toml").ok());
}

}  // namespace
}  // namespace derm::scene_change_test
