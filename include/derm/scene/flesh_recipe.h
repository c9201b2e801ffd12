#pragma once

#include "derm/anim/skeleton.h"
#include "derm/deform/flesh.h"
#include "derm/scene/recipe.h"

namespace derm {

/// A layer of a recipe that makes this element; keys at their defaults are left out. Joints are
/// written by name, so those the desc uses must be the first of their names. Requires a valid desc.
RecipeLayer fleshRecipeLayer(const FleshDesc& desc, const Skeleton& skeleton);

}  // namespace derm
