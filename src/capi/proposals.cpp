#include "capi/proposals.h"

#include <algorithm>

#include "derm/deform/flesh_auto.h"
#include "derm/deform/wrinkle_proposal.h"
#include "derm/scene/flesh_recipe.h"
#include "derm/scene/recipe_edit.h"
#include "derm/scene/recipe_text.h"
#include "derm/scene/wrinkle_recipe.h"

namespace derm::detail::capi {
namespace {

bool hasLayer(const Recipe& recipe, std::string_view type) {
  return std::any_of(recipe.layers.begin(), recipe.layers.end(),
                     [&](const RecipeLayer& layer) { return layer.type == type; });
}

/// Before the first layer of a type that comes after it, else last.
void insertBefore(Recipe& recipe, RecipeLayer layer,
                  std::initializer_list<std::string_view> types) {
  layer.name = freeLayerName(recipe, layer.name.empty() ? layer.type : layer.name);
  const auto at =
      std::find_if(recipe.layers.begin(), recipe.layers.end(), [&](const RecipeLayer& there) {
        return std::find(types.begin(), types.end(), there.type) != types.end();
      });
  recipe.layers.insert(at, std::move(layer));
}

Result<void> addFlesh(const Character& character, Recipe& recipe) {
  Diagnostics notes;
  DERM_TRY(const std::vector<FleshProposal> found, proposeFlesh(character, notes));
  for (const FleshProposal& proposal : found)
    insertBefore(recipe, fleshRecipeLayer(proposal.desc, character.skeleton),
                 {"volume", "wrinkles", "detail"});
  return {};
}

void addVolume(Recipe& recipe) {
  recipe.skinning = SkinningMethod::Centre;
  if (!hasLayer(recipe, "volume"))
    insertBefore(recipe, {.type = "volume", .name = "volume"}, {"wrinkles", "detail"});
}

Result<void> addFolds(const Character& character, const Clip* clip, Recipe& recipe) {
  if (clip == nullptr)
    return Error{ErrorCode::BadArgument, "no clip plays, so no skin is squeezed", {}};
  DERM_TRY(const std::vector<WrinkleProposal> found, proposeWrinkles(character, *clip, {}));
  for (const WrinkleProposal& proposal : found)
    insertBefore(recipe, wrinkleRecipeLayer(proposal.tool), {"detail"});
  return {};
}

}  // namespace

Result<std::string> proposeText(const Session& session, std::string_view what) {
  const Character& character = session.character();
  Recipe recipe = session.scene().recipe();
  const bool all = what == "all";
  if (!all && what != "flesh" && what != "volume" && what != "wrinkles")
    return Error{
        ErrorCode::BadArgument,
        "propose \"flesh\", \"volume\", \"wrinkles\" or \"all\", not \"" + std::string(what) + "\"",
        {}};
  if (!character.hasSkin())
    return Error{ErrorCode::BadData, "has no skin weights", {.file = character.name}};
  if (what == "volume" || all) addVolume(recipe);
  if (what == "flesh" || (all && !hasLayer(recipe, "flesh")))
    DERM_CHECK(addFlesh(character, recipe));
  const Clip* clip = session.scene().clip();
  if (what == "wrinkles" || (all && clip != nullptr && !hasLayer(recipe, "wrinkles")))
    DERM_CHECK(addFolds(character, clip, recipe));
  return editRecipe(session.text(), recipe);
}

}  // namespace derm::detail::capi
