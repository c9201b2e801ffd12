#include "derm/scene/recipe_edit.h"

#include <gtest/gtest.h>

namespace derm {
namespace {

Recipe recipe() {
  return *parseRecipe(R"(
character = "cast:cat"
range_s = [0, 1]
[simulation]
teleport_m = 2.0
[[layer]]
type = "flesh"
name = "belly"
dominant = "spine_1"
ends = ["spine_5"]
)",
                      "cat.toml");
}

Result<void> set(Recipe& in, std::string_view layer, std::string_view key, RecipeValue value) {
  return setRecipeKey(in, layer, key, &value);
}

TEST(RecipeEdit, SetsKeysOfLayersAndOfTheTopLevel) {
  Recipe edited = recipe();
  ASSERT_TRUE(set(edited, "belly", "frequency_hz", {.content = 2.5}).ok());
  EXPECT_EQ(find(edited.layers[0].keys, "frequency_hz")->value, (RecipeValue{.content = 2.5}));
  ASSERT_TRUE(set(edited, "", "fps", {.content = std::int64_t{24}}).ok());
  EXPECT_EQ(edited.fps, 24);
  ASSERT_TRUE(set(edited, "", "skinning.method", {.content = std::string("centre")}).ok());
  EXPECT_EQ(edited.skinning, SkinningMethod::Centre);
  EXPECT_EQ(edited.fps, 24);  // other keys stay
  ASSERT_TRUE(set(edited, "", "clip", {.content = std::string("jump")}).ok());
  EXPECT_EQ(edited.clip, ClipChoice("jump"));
  ASSERT_TRUE(set(edited, "", "controls.smile", {.content = 0.5}).ok());
  EXPECT_EQ(edited.controls.at(0).second, 0.5);
}

TEST(RecipeEdit, NothingIsTheDefault) {
  Recipe edited = recipe();
  ASSERT_TRUE(set(edited, "", "fps", {.content = 24.0}).ok());
  ASSERT_TRUE(set(edited, "belly", "frequency_hz", {.content = 2.5}).ok());
  for (const std::string_view key : {"fps", "range_s", "simulation.teleport_m", "clip"})
    EXPECT_TRUE(setRecipeKey(edited, "", key, nullptr).ok()) << key;
  EXPECT_TRUE(setRecipeKey(edited, "belly", "frequency_hz", nullptr).ok());
  EXPECT_EQ(edited.fps, Recipe().fps);
  EXPECT_FALSE(edited.range_s);
  EXPECT_FALSE(edited.teleport_m);
  EXPECT_EQ(find(edited.layers[0].keys, "frequency_hz"), nullptr);
}

TEST(RecipeEdit, RefusesWhatAFileMayNotHoldAndChangesNothing) {
  Recipe edited = recipe();
  EXPECT_FALSE(set(edited, "belly", "frequency_hz", {.content = -1.0}).ok());
  EXPECT_FALSE(set(edited, "belly", "frequency", {.content = 1.0}).ok());
  EXPECT_FALSE(set(edited, "bely", "frequency_hz", {.content = 1.0}).ok());
  EXPECT_FALSE(set(edited, "", "fps", {.content = std::string("fast")}).ok());
  EXPECT_FALSE(set(edited, "", "skining.alpha", {.content = 0.5}).ok());
  EXPECT_FALSE(set(edited, "", "clip", {.content = 0.5}).ok());
  EXPECT_EQ(edited, recipe());
}

TEST(RecipeEdit, FreeNamesAreNotTaken) {
  EXPECT_EQ(freeLayerName(recipe(), "belly"), "belly_2");
  EXPECT_EQ(freeLayerName(recipe(), "skinning"), "skinning_2");
  EXPECT_EQ(freeLayerName(recipe(), "chest"), "chest");
}

}  // namespace
}  // namespace derm
