#pragma once

#include <array>
#include <string_view>

#include "derm/scene/recipe.h"

namespace derm::detail {

/// Keys of a layer that are not its type's own: those of layerHead().
inline constexpr std::array<std::string_view, 4> kLayerKeys = {"type", "name", "enabled",
                                                               "before_skinning"};
RecipeValue::Table layerHead(RecipeLayer layer);

/// The recipe without its layers as the values that a text would hold, sections as tables. Keys at
/// their defaults are there too; what is absent (a range, a clip) is not.
RecipeValue::Table recipeTable(Recipe recipe);

}  // namespace derm::detail
