#pragma once

#include "derm/deform/wrinkles.h"
#include "derm/scene/recipe.h"

namespace derm {

/// A layer of a recipe with a proposed tool (wrinkle_proposal.h): positions, width, points and
/// height, rounded to 0.01 mm so that a person can read and change them; ends snap to vertices
/// anyway. Requires a path of two points or more, of which the first two are taken.
RecipeLayer wrinkleRecipeLayer(const WrinkleToolDesc& tool);

}  // namespace derm
