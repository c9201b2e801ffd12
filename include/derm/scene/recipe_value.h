#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace derm {

/// Where something stands in a recipe's text, from 1; 0 = it was not read from a text.
struct SourceLocation {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct RecipeEntry;

/// A value of a recipe: what TOML can hold, without dates. Its location and the order of keys are
/// not compared.
struct RecipeValue {
  using List = std::vector<RecipeValue>;
  using Table = std::vector<RecipeEntry>;  ///< in the order of the text

  std::variant<bool, std::int64_t, double, std::string, List, Table> content;  ///< at first false
  SourceLocation location;

  bool operator==(const RecipeValue& other) const;
};

/// "key = value".
struct RecipeEntry {
  std::string key;
  RecipeValue value;
  SourceLocation location;  ///< of the key

  bool operator==(const RecipeEntry& other) const {
    return key == other.key && value == other.value;
  }
};

/// The table's entry of that key, or null.
const RecipeEntry* find(const RecipeValue::Table& table, std::string_view key);
/// Whether the tables have the same keys with the same values; TOML gives no meaning to the order.
bool sameKeys(const RecipeValue::Table& a, const RecipeValue::Table& b);

/// The value as TOML on one line, with the shortest digits that give the same number back.
std::string toToml(const RecipeValue& value);
/// What it is, for messages: "a number", "text", "a list", …
std::string_view kindOf(const RecipeValue& value);

}  // namespace derm
