#include "scene/toml_text.h"

#include <algorithm>
#include <optional>
#include <string>

// Header-only and without exceptions: errors come back as values, and nothing has to be linked.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace derm::detail {
namespace {

/// Keys like a.b.c.… nest a table per dot; the parser would follow them however deep, and its
/// tables free themselves recursively.
constexpr int kMaxDots = 128;

Error badToml(std::string_view name, const toml::source_position& at, std::string message) {
  Error error{ErrorCode::BadData, std::move(message), {.file = std::string(name)}};
  if (at.line > 0) {
    error.where.line = at.line;
    error.where.column = at.column;
  }
  return error;
}

SourceLocation locationOf(const toml::source_region& source) {
  return {source.begin.line, source.begin.column};
}

/// The line on which a run of key characters has too many dots.
std::optional<std::uint32_t> tooDeepLine(std::string_view text) {
  std::uint32_t line = 1;
  int dots = 0;
  for (const char c : text) {
    if (c == '\n') ++line;
    if (c == '.' && ++dots > kMaxDots) return line;
    if (c == '\n' || c == '=' || c == ',' || c == '#' || c == '[' || c == '{') dots = 0;
  }
  return std::nullopt;
}

class Converter {
 public:
  explicit Converter(std::string_view name) : name_(name) {}

  RecipeValue::Table table(const toml::table& from) {
    RecipeValue::Table out;
    for (const auto& [key, node] : from)
      out.push_back({.key = std::string(key.str()),
                     .value = value(node),
                     .location = locationOf(key.source())});
    // The parser sorts by name; people expect the order they wrote.
    std::stable_sort(out.begin(), out.end(), [](const RecipeEntry& a, const RecipeEntry& b) {
      return std::pair(a.location.line, a.location.column) <
             std::pair(b.location.line, b.location.column);
    });
    return out;
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  RecipeValue value(const toml::node& node) {
    RecipeValue out{.location = locationOf(node.source())};
    if (const auto* flag = node.as_boolean()) {
      out.content = flag->get();
    } else if (const auto* whole = node.as_integer()) {
      out.content = whole->get();
    } else if (const auto* number = node.as_floating_point()) {
      out.content = number->get();
    } else if (const auto* text = node.as_string()) {
      out.content = text->get();
    } else if (const auto* list = node.as_array()) {
      RecipeValue::List values;
      for (const toml::node& item : *list) values.push_back(value(item));
      out.content = std::move(values);
    } else if (const auto* inner = node.as_table()) {
      out.content = table(*inner);
    } else if (!error_) {
      error_ = badToml(name_, node.source().begin, "dates and times have no place in a recipe");
    }
    return out;
  }

  std::string_view name_;
  std::optional<Error> error_;
};

}  // namespace

Result<RecipeValue::Table> parseToml(std::string_view text, std::string_view name) {
  if (const std::optional<std::uint32_t> line = tooDeepLine(text))
    return badToml(name, {*line, 1}, "a key is nested too deep");
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed)
    return badToml(name, parsed.error().source().begin, std::string(parsed.error().description()));
  Converter converter(name);
  RecipeValue::Table out = converter.table(parsed.table());
  if (converter.error()) return *converter.error();
  return out;
}

}  // namespace derm::detail
