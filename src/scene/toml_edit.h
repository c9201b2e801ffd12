#pragma once

#include <string>
#include <string_view>

#include "derm/base/result.h"
#include "derm/scene/recipe_value.h"

#include "scene/toml_value_edit.h"

namespace derm::detail {

/// What a text is to hold.
struct TomlTarget {
  RecipeValue::Table table = {};
  /// A list of tables at the top level whose elements may be moved; others are taken by number.
  std::string list = {};
  ListOrigins origins = {};
};

/// The text with what differs from the target changed, and nothing else: see editRecipe(). Fails
/// where the text is not TOML. `written` is what parseToml() gave for it.
Result<std::string> editToml(std::string_view text, const RecipeValue::Table& written,
                             const TomlTarget& target);

}  // namespace derm::detail
