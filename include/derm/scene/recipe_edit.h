#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "derm/base/result.h"
#include "derm/scene/layer_types.h"
#include "derm/scene/recipe.h"

namespace derm {

/// Keys of a recipe that are described by fields: those of the top level (no name), [skinning],
/// [face], [simulation]. "clip" and [controls] are not: what they may hold depends on the
/// character.
struct RecipeSection {
  std::string name;
  FieldList fields;  ///< refers to the recipe
};
std::vector<RecipeSection> recipeSections(Recipe& recipe);

/// Sets one key, as a panel does: of a layer by its name, or of the top level where `layer` is
/// empty ("fps", "clip", "skinning.alpha", "controls.smile"). Null = as if it were not written. The
/// value is checked as one of a file is; a failure changes nothing. editRecipe() brings the edit
/// into a text.
Result<void> setRecipeKey(Recipe& recipe, std::string_view layer, std::string_view key,
                          const RecipeValue* value, const LayerTypes& types = builtInLayerTypes());

/// The layer's number, or an error that lists the nearest names.
Result<std::size_t> findRecipeLayer(const Recipe& recipe, std::string_view name);
/// `wanted`, or with a number behind it where a layer has that name.
std::string freeLayerName(const Recipe& recipe, std::string_view wanted);

}  // namespace derm
