#include "derm/scene/recipe_value.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derm/base/number_text.h"

namespace derm {
namespace {

std::string quotedText(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

bool isBareKey(std::string_view key) {
  if (key.empty()) return false;
  for (const char c : key) {
    const bool bare = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-';
    if (!bare) return false;
  }
  return true;
}

std::string numberText(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  std::string out = exactNumber(number);
  // TOML tells numbers with a fraction from whole ones by their point or exponent.
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

struct ToText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return numberText(value); }
  std::string operator()(const std::string& value) const { return quotedText(value); }
  std::string operator()(const RecipeValue::List& values) const {
    std::string out = "[";
    for (std::size_t i = 0; i < values.size(); ++i) out += (i > 0 ? ", " : "") + toToml(values[i]);
    return out + "]";
  }
  std::string operator()(const RecipeValue::Table& table) const {
    if (table.empty()) return "{}";
    std::string out = "{ ";
    for (std::size_t i = 0; i < table.size(); ++i) {
      const std::string& key = table[i].key;
      out += (i > 0 ? ", " : "") + (isBareKey(key) ? key : quotedText(key)) + " = " +
             toToml(table[i].value);
    }
    return out + " }";
  }
};

}  // namespace

bool RecipeValue::operator==(const RecipeValue& other) const {
  const auto* table = std::get_if<Table>(&content);
  const auto* other_table = std::get_if<Table>(&other.content);
  if (table != nullptr && other_table != nullptr) return sameKeys(*table, *other_table);
  return content == other.content;
}

const RecipeEntry* find(const RecipeValue::Table& table, std::string_view key) {
  const auto at =
      std::find_if(table.begin(), table.end(), [&](const RecipeEntry& e) { return e.key == key; });
  return at == table.end() ? nullptr : &*at;
}

bool sameKeys(const RecipeValue::Table& a, const RecipeValue::Table& b) {
  return a.size() == b.size() && std::is_permutation(a.begin(), a.end(), b.begin());
}

std::string toToml(const RecipeValue& value) { return std::visit(ToText(), value.content); }

std::string_view kindOf(const RecipeValue& value) {
  constexpr std::array<std::string_view, 6> kNames = {"true or false", "a whole number", "a number",
                                                      "text",          "a list",         "a table"};
  return kNames[value.content.index()];
}

}  // namespace derm
