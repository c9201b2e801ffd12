#include "derm/scene/recipe_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derm/io/file_bytes.h"

#include "scene/recipe_table.h"
#include "scene/toml_edit.h"
#include "scene/toml_text.h"

namespace derm {
namespace {

using detail::kLayerKeys;
using detail::ListOrigins;

constexpr std::string_view kLayers = "layer";

void setKey(RecipeValue::Table& table, std::string_view key, RecipeValue value) {
  for (RecipeEntry& e : table)
    if (e.key == key) {
      e.value = std::move(value);
      return;
    }
  table.push_back({.key = std::string(key), .value = std::move(value), .location = {}});
}

/// A whole number stays one where a number of either kind is meant.
RecipeValue inTheWayOf(const RecipeValue& written, RecipeValue value) {
  constexpr double kMaxWhole = 9007199254740992;  // all smaller whole numbers are doubles
  const auto* number = std::get_if<double>(&value.content);
  if (number == nullptr || !std::holds_alternative<std::int64_t>(written.content)) return value;
  if (std::abs(*number) < kMaxWhole && *number == std::floor(*number))
    return {.content = static_cast<std::int64_t>(*number), .location = {}};
  return value;
}
RecipeValue listInTheWayOf(const RecipeValue& written, RecipeValue value) {
  const auto* old = std::get_if<RecipeValue::List>(&written.content);
  auto* list = std::get_if<RecipeValue::List>(&value.content);
  if (old == nullptr || list == nullptr) return inTheWayOf(written, std::move(value));
  for (std::size_t i = 0; i < std::min(old->size(), list->size()); ++i)
    (*list)[i] = inTheWayOf((*old)[i], (*list)[i]);
  return value;
}

/// What was written, with what differs between `before` and `after`, which have defaults too.
RecipeValue::Table merged(const RecipeValue::Table& written, const RecipeValue::Table& before,
                          const RecipeValue::Table& after) {
  RecipeValue::Table out = written;
  for (const RecipeEntry& e : after) {
    const RecipeEntry* old = find(before, e.key);
    if (old != nullptr && old->value == e.value) continue;
    const RecipeEntry* there = find(written, e.key);
    const auto* section = std::get_if<RecipeValue::Table>(&e.value.content);
    if (section == nullptr) {
      setKey(out, e.key, there != nullptr ? listInTheWayOf(there->value, e.value) : e.value);
      continue;
    }
    const auto tableOf = [](const RecipeEntry* entry) {
      const auto* table =
          entry != nullptr ? std::get_if<RecipeValue::Table>(&entry->value.content) : nullptr;
      return table != nullptr ? *table : RecipeValue::Table();
    };
    setKey(out, e.key, {.content = merged(tableOf(there), tableOf(old), *section), .location = {}});
  }
  std::erase_if(out, [&](const RecipeEntry& e) {
    return find(before, e.key) != nullptr && find(after, e.key) == nullptr;
  });
  return out;
}

/// Which layer each one was.
class LayerMatch {
 public:
  LayerMatch(const std::vector<RecipeLayer>& before, const std::vector<RecipeLayer>& after)
      : origins_(after.size()), before_(before), after_(after), taken_(before.size(), false) {
    pair([](const RecipeLayer& a, const RecipeLayer& b) { return a.name == b.name; });
    pair([](const RecipeLayer& a, const RecipeLayer& b) {
      return a.type == b.type && a.location.line > 0 && a.location.line == b.location.line &&
             a.location.column == b.location.column;
    });
    pair([](const RecipeLayer& a, const RecipeLayer& b) {
      return a.type == b.type && sameKeys(a.keys, b.keys);
    });
  }
  ListOrigins take() { return std::move(origins_); }

 private:
  template <class Same>
  void pair(const Same& same) {
    for (std::size_t i = 0; i < after_.size(); ++i)
      for (std::size_t j = 0; j < before_.size() && !origins_[i]; ++j)
        if (!taken_[j] && same(before_[j], after_[i])) {
          origins_[i] = j;
          taken_[j] = true;
        }
  }

  ListOrigins origins_;
  const std::vector<RecipeLayer>& before_;
  const std::vector<RecipeLayer>& after_;
  std::vector<bool> taken_;
};

/// What is to stand in a layer's table where `written` stands now; a new one comes from a layer at
/// its defaults and an empty table.
RecipeValue::Table layerTable(const RecipeLayer& before, const RecipeLayer& layer,
                              const RecipeValue::Table& written) {
  RecipeValue::Table out = merged(written, detail::layerHead(before), detail::layerHead(layer));
  std::erase_if(out, [&](const RecipeEntry& e) {
    return std::find(kLayerKeys.begin(), kLayerKeys.end(), e.key) == kLayerKeys.end() &&
           find(layer.keys, e.key) == nullptr;
  });
  for (const RecipeEntry& e : layer.keys) setKey(out, e.key, e.value);
  return out;
}

/// The layers' tables; those with `named` say their name.
RecipeValue::List layerTables(const Recipe& before, const Recipe& changed,
                              const RecipeValue::Table& written, const ListOrigins& origins,
                              const std::vector<bool>& named) {
  RecipeValue::List out;
  const RecipeEntry* old = find(written, kLayers);
  for (std::size_t i = 0; i < changed.layers.size(); ++i) {
    RecipeLayer from;
    RecipeValue::Table table;
    if (origins[i]) {
      from = before.layers[*origins[i]];
      table = std::get<RecipeValue::Table>(
          std::get<RecipeValue::List>(old->value.content)[*origins[i]].content);
    }
    table = layerTable(from, changed.layers[i], table);
    if (named[i]) setKey(table, "name", {.content = changed.layers[i].name, .location = {}});
    out.push_back({.content = std::move(table), .location = {}});
  }
  return out;
}

}  // namespace

Result<std::string> editRecipe(std::string_view text, const Recipe& changed,
                               const LayerTypes& types) {
  DERM_TRY(const Recipe before, parseRecipe(text, changed.origin.file, types));
  DERM_TRY(EditedRecipe edited, editRecipe(text, before, changed, types));
  return std::move(edited.text);
}

Result<EditedRecipe> editRecipe(std::string_view text, const Recipe& before, const Recipe& changed,
                                const LayerTypes& types) {
  if (before == changed) return EditedRecipe{std::string(text), before};
  const std::string& name = changed.origin.file;
  DERM_TRY(const RecipeValue::Table written, detail::parseToml(text, name));
  detail::TomlTarget target{
      .table = merged(written, detail::recipeTable(before), detail::recipeTable(changed)),
      .list = std::string(kLayers),
      .origins = LayerMatch(before.layers, changed.layers).take()};
  std::vector<bool> named(changed.layers.size(), false);
  // Layers without a name have one by their number, which others may change.
  for (bool is_settled = false; !is_settled;) {
    RecipeValue::List layers = layerTables(before, changed, written, target.origins, named);
    if (layers.empty() && find(written, kLayers) == nullptr)
      std::erase_if(target.table, [](const RecipeEntry& e) { return e.key == kLayers; });
    else
      setKey(target.table, kLayers, {.content = std::move(layers), .location = {}});
    DERM_TRY(std::string edited, detail::editToml(text, written, target));
    DERM_TRY(Recipe again, parseRecipe(edited, name, types));
    if (again == changed) return EditedRecipe{std::move(edited), std::move(again)};
    is_settled = true;
    for (std::size_t i = 0; i < std::min(named.size(), again.layers.size()); ++i)
      if (!named[i] && again.layers[i].name != changed.layers[i].name) {
        named[i] = true;
        is_settled = false;
      }
  }
  return Error{ErrorCode::Unsupported,
               "this recipe cannot be written into the text that is there",
               {.file = name}};
}

Result<void> saveRecipe(const std::filesystem::path& file, const Recipe& recipe,
                        const LayerTypes& types) {
  std::string text;
  if (const auto bytes = readFile(file, Recipe::kMaxBytes))
    text.assign(bytes->begin(), bytes->end());
  const bool is_recipe = !text.empty() && parseRecipe(text, file.string(), types).ok();
  if (!is_recipe) return writeFileWhole(file, writeRecipe(recipe));
  Recipe named = recipe;
  named.origin.file = file.string();
  DERM_TRY(const std::string edited, editRecipe(text, named, types));
  return writeFileWhole(file, edited);
}

}  // namespace derm
