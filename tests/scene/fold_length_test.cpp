// Folds keep the skin's length: in every recipe that is shipped, and in what is proposed.
#include <algorithm>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/deform/wrinkle_proposal.h"
#include "derm/scene/recipe.h"
#include "derm/scene/scene.h"
#include "derm/scene/wrinkle_recipe.h"

namespace derm::fold_length_test {
namespace {

/// Plays a scene; the greatest share of its rest length that a tool is short of, and whether any
/// folded at all.
struct Shortage {
  double worst = 0;
  double highest_m = 0;
};

Shortage playedShortage(Scene& scene, const std::string& what) {
  Shortage out;
  for (std::size_t i = 0; i < scene.frameTimes().size(); ++i) {
    scene.frame(i);
    for (const auto& layer : scene.stack().layers()) {
      const auto* folds = scene.playback().find<WrinklesLayer>(layer->name());
      if (folds == nullptr) continue;
      for (std::size_t k = 0; k < folds->toolCount(); ++k) {
        const WrinkleToolState& state = folds->tool(k);
        out.worst =
            std::max(out.worst, (state.held_back_m + state.fold.missing) / state.rest_length_m);
        out.highest_m = std::max(out.highest_m, state.highest_m);
      }
    }
  }
  std::printf("%s: at most %.2f %% of a length missing, folds up to %.1f mm high\n", what.c_str(),
              100 * out.worst, 1000 * out.highest_m);
  return out;
}

class ShippedRecipe : public testing::TestWithParam<const char*> {};

TEST_P(ShippedRecipe, KeepsItsLength) {
  const std::string file = std::string(DERM_EXAMPLES) + "/recipes/" + GetParam() + ".toml";
  Diagnostics notes;
  Scene scene = openScene(loadRecipe(file).value(), {}, notes).value();
  const Shortage shortage = playedShortage(scene, GetParam());
  EXPECT_LE(shortage.worst, 0.01);
  EXPECT_GT(shortage.highest_m, 0.002) << "it does fold";
  scene.playback().report(notes);
  for (const auto& note : notes.notes())
    EXPECT_FALSE(note.kind == "wrinkles-contact" && note.severity == Severity::Warning)
        << note.text();
}

INSTANTIATE_TEST_SUITE_P(FoldLength, ShippedRecipe,
                         testing::Values("wrist", "trousers", "cat_belly_and_folds", "forehead"),
                         [](const auto& recipe) { return std::string(recipe.param); });

TEST(FoldLength, ProposedStrokesAreLongEnoughForWhatTheSkinLoses) {
  for (const auto& [member, clip_name] :
       {std::pair{"wrist", "flex"}, {"trousers", "walk"}, {"cat", "jump"}, {"arm", "flex"}}) {
    const auto c = std::make_shared<const Character>(makeCastMember(member).value());
    Recipe recipe{.character = std::string("cast:") + member, .clip = clip_name};
    const Clip& clip = c->clips[*c->findClip(clip_name)];
    const std::vector<WrinkleProposal> found = proposeWrinkles(*c, clip, {}).value();
    for (const WrinkleProposal& p : found) recipe.layers.push_back(wrinkleRecipeLayer(p.tool));
    Diagnostics notes;
    const Recipe read = parseRecipe(writeRecipe(recipe), "auto.toml").value();
    Scene scene = openScene(read, {.character = c}, notes).value();
    EXPECT_LE(playedShortage(scene, std::string("proposed on ") + member).worst, 0.01);
  }
}

}  // namespace
}  // namespace derm::fold_length_test
