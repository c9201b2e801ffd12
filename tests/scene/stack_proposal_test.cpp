#include "derm/scene/stack_proposal.h"

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/scene/recipe_text.h"
#include "derm/scene/scene.h"

namespace derm::stack_proposal_test {
namespace {

std::vector<std::string> typesOf(const Recipe& recipe) {
  std::vector<std::string> out;
  for (const RecipeLayer& layer : recipe.layers)
    if (out.empty() || out.back() != layer.type) out.push_back(layer.type);
  return out;
}

Recipe recipeOf(const char* character, const char* clip) {
  Recipe out;
  out.character = std::string("cast:") + character;
  out.clip = std::string(clip);
  return out;
}

StackProposal proposalOf(const Character& character, const char* clip) {
  Diagnostics notes;
  const Result<std::size_t> number = character.findClip(clip);
  return proposeStack(character, number ? &character.clips[*number] : nullptr, {}, notes).value();
}

class StackProposalTest : public testing::Test {
 protected:
  Character cat = makeCastMember("cat").value();
  StackProposal stack = proposalOf(cat, "jump");
};

TEST_F(StackProposalTest, LayersComeInTheOrderInWhichTheyWork) {
  EXPECT_EQ(stack.skinning, SkinningMethod::Centre);
  Recipe recipe = recipeOf("cat", "jump");
  EXPECT_TRUE(addProposed(recipe, stack.layers).empty());
  EXPECT_EQ(recipe.layers.size(), stack.layers.size());
  std::vector<std::string> wanted = {"flesh"};
  if (builtInLayerTypes().find("contact") != nullptr) wanted.push_back("contact");
  wanted.insert(wanted.end(), {"volume", "wrinkles"});
  EXPECT_EQ(typesOf(recipe), wanted);
}

TEST_F(StackProposalTest, TheProposalOpensAndMovesTheSkin) {
  Recipe recipe = recipeOf("cat", "jump");
  recipe.skinning = stack.skinning;
  addProposed(recipe, stack.layers);
  Diagnostics notes;
  Result<Scene> scene = openScene(recipe, {}, notes);
  ASSERT_TRUE(scene.ok()) << scene.error().text();
}

TEST_F(StackProposalTest, WhatTheAuthorHasIsKept) {
  Recipe recipe = recipeOf("cat", "jump");
  recipe.layers.push_back({.type = "flesh", .name = "belly", .keys = {}, .location = {}});
  recipe.layers.push_back({.type = "volume", .name = "mine", .keys = {}, .location = {}});
  recipe.layers.push_back({.type = "wrinkles", .name = "elbow", .keys = {}, .location = {}});
  const std::vector<RecipeLayer> before = recipe.layers;
  const std::vector<std::string> left_out = addProposed(recipe, stack.layers);
  EXPECT_EQ(left_out, (std::vector<std::string>{"belly", "volume"}));
  std::vector<RecipeLayer> kept;
  for (const RecipeLayer& layer : recipe.layers)
    if (layer.name == "belly" || layer.name == "mine" || layer.name == "elbow")
      kept.push_back(layer);
  EXPECT_EQ(kept, before);
  const std::vector<std::string> types = typesOf(recipe);
  EXPECT_EQ(types.front(), "flesh");
  EXPECT_EQ(types.back(), "wrinkles");
  EXPECT_EQ(std::count(types.begin(), types.end(), "volume"), 1);
  // And once more: nothing is added twice.
  const Recipe once = recipe;
  EXPECT_EQ(addProposed(recipe, stack.layers).size(), stack.layers.size());
  EXPECT_EQ(recipe, once);
}

TEST_F(StackProposalTest, CommentsStandAboveTheirLayersAndChangeNothing) {
  Recipe recipe = recipeOf("cat", "jump");
  addProposed(recipe, stack.layers);
  for (const std::string& text : {writeRecipe(recipe), "# Mine.\r\n\r\n" + writeRecipe(recipe)}) {
    const std::string commented = withComments(text, stack.layers).value();
    EXPECT_EQ(parseRecipe(commented, "a.toml").value(), recipe);
    for (const ProposedLayer& p : stack.layers) {
      const std::size_t at = commented.find("# " + p.comment);
      ASSERT_NE(at, std::string::npos) << p.comment;
      EXPECT_EQ(commented.substr(commented.find('\n', at) + 1, 9), "[[layer]]");
    }
    std::string without = commented;
    for (const ProposedLayer& p : stack.layers) {
      const std::size_t at = without.find("# " + p.comment);
      without.erase(at, without.find('\n', at) + 1 - at);
    }
    EXPECT_EQ(without, text);
  }
}

TEST(StackProposal, WithoutAClipThereAreNoFolds) {
  const Character cat = makeCastMember("cat").value();
  for (const ProposedLayer& p : proposalOf(cat, "no such clip").layers)
    EXPECT_NE(p.layer.type, "wrinkles");
}

TEST(StackProposal, FoldsAreSqueezedAsMuchAsWasAskedFor) {
  const Character cat = makeCastMember("cat").value();
  const Clip& clip = cat.clips[cat.findClip("jump").value()];
  for (const double least : {0.1, 0.2, 0.4}) {
    const auto found = proposeWrinkles(cat, clip, {.min_squeeze = least}).value();
    EXPECT_FALSE(found.empty());
    for (const WrinkleProposal& p : found) EXPECT_GE(p.squeeze, least) << p.tool.name;
  }
}

TEST(StackProposal, ACharacterWithoutASkinIsRefused) {
  Character cat = makeCastMember("cat").value();
  cat.skin = {};
  Diagnostics notes;
  EXPECT_FALSE(proposeStack(cat, nullptr, {}, notes));
}

}  // namespace
}  // namespace derm::stack_proposal_test
