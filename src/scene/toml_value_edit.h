#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "derm/scene/recipe_value.h"

#include "scene/toml_layout.h"

namespace derm::detail {

/// For each element of a changed list, which one of the old list it was; nothing: it is new.
using ListOrigins = std::vector<std::optional<std::size_t>>;

/// The key as TOML, quoted where it must be.
std::string keyText(std::string_view key);
/// Equal values at both ends stay themselves, those between are taken one by one.
ListOrigins originsByOrder(const RecipeValue::List& before, const RecipeValue::List& after);

/// The text of a value (`at`, in the layout's text) that was `before` and is to be `after`, with
/// only those of its characters changed that must be. Comments in lists stay with the element that
/// they stand above or behind. `origins` is of the value itself where that is a list.
std::string editedValue(const TomlLayout& layout, const TomlValue& at, const RecipeValue& before,
                        const RecipeValue& after, std::string_view line_end,
                        const ListOrigins* origins = nullptr);

}  // namespace derm::detail
