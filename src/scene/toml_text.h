#pragma once

#include <string_view>

#include "derm/base/result.h"
#include "derm/scene/recipe_value.h"

namespace derm::detail {

/// TOML text as values, in the text's order. Fails with line and column; hostile depth is an error.
Result<RecipeValue::Table> parseToml(std::string_view text, std::string_view name);

}  // namespace derm::detail
