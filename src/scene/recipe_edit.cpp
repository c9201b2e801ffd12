#include "derm/scene/recipe_edit.h"

#include <algorithm>
#include <cmath>

#include "derm/base/nearest_name.h"

namespace derm {
namespace {

Error badKey(std::string_view key, std::string message) {
  return Error{ErrorCode::BadArgument, std::move(message), {.element = std::string(key)}};
}

Result<void> setLayerKey(RecipeLayer& layer, std::string_view key, const RecipeValue* value,
                         const LayerTypes& types) {
  const LayerType* type = types.find(layer.type);
  if (type == nullptr) return badKey(layer.name, "unknown layer type \"" + layer.type + "\"");
  RecipeValue::Table keys = layer.keys;
  const auto at =
      std::find_if(keys.begin(), keys.end(), [&](const RecipeEntry& e) { return e.key == key; });
  if (value == nullptr) {
    if (at != keys.end()) keys.erase(at);
  } else if (at != keys.end()) {
    at->value = *value;
  } else {
    keys.push_back({.key = std::string(key), .value = *value});
  }
  const std::unique_ptr<LayerParameters> parameters = type->make();
  DERM_CHECK(readFields(keys, "", "layer \"" + layer.name + "\"",
                        [&](RecipeFields& f) { parameters->fields(f); }));
  layer.keys = std::move(keys);
  return {};
}

Result<void> setControl(Recipe& recipe, std::string_view name, const RecipeValue* value) {
  const auto at = std::find_if(recipe.controls.begin(), recipe.controls.end(),
                               [&](const auto& control) { return control.first == name; });
  if (value == nullptr) {
    if (at != recipe.controls.end()) recipe.controls.erase(at);
    return {};
  }
  double number = std::nan("");
  if (const auto* real = std::get_if<double>(&value->content)) number = *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value->content))
    number = static_cast<double>(*whole);
  if (!std::isfinite(static_cast<float>(number)))
    return badKey("controls." + std::string(name), "expected a finite number");
  if (at != recipe.controls.end())
    at->second = number;
  else
    recipe.controls.emplace_back(name, number);
  return {};
}

Result<void> setClip(Recipe& recipe, const RecipeValue* value) {
  if (value == nullptr) {
    recipe.clip = ClipChoice();
    return {};
  }
  if (const auto* name = std::get_if<std::string>(&value->content)) {
    recipe.clip = *name;
    return {};
  }
  const auto* number = std::get_if<std::int64_t>(&value->content);
  if (number == nullptr || *number < 0)
    return badKey("clip", "expected the name of a clip or its number, found " + toToml(*value));
  recipe.clip = *number;
  return {};
}

/// Values that a recipe can be without have no default to go back to.
bool forgetOptional(Recipe& recipe, std::string_view section, std::string_view key) {
  if (section.empty() && key == "range_s") return recipe.range_s.reset(), true;
  if (section.empty() && key == "metres_per_unit") return recipe.metres_per_unit.reset(), true;
  if (section == "simulation" && key == "teleport_m") return recipe.teleport_m.reset(), true;
  if (section == "face" && key == "motion") return recipe.face.motions.clear(), true;
  return false;
}

Result<void> setSectionKey(Recipe& recipe, std::string_view section, std::string_view key,
                           const RecipeValue* value) {
  if (value == nullptr && forgetOptional(recipe, section, key)) return {};
  Recipe changed = recipe, presets;
  const auto fieldsOf = [&](Recipe& of) {
    for (RecipeSection& each : recipeSections(of))
      if (each.name == section) return std::move(each.fields);
    return FieldList();
  };
  const FieldList fields = fieldsOf(changed);
  if (!fields)
    return badKey(std::string(section) + "." + std::string(key), "there is no such section");
  RecipeValue::Table table;
  if (value != nullptr) {
    table.push_back({.key = std::string(key), .value = *value});
  } else {
    table = writeFields(fieldsOf(presets));
    std::erase_if(table, [&](const RecipeEntry& e) { return e.key != key; });
  }
  // Fields that the table does not name stay as they are.
  DERM_CHECK(readFields(table, "", section, fields));
  recipe = std::move(changed);
  return {};
}

}  // namespace

Result<void> setRecipeKey(Recipe& recipe, std::string_view layer, std::string_view key,
                          const RecipeValue* value, const LayerTypes& types) {
  if (!layer.empty()) {
    DERM_TRY(const std::size_t index, findRecipeLayer(recipe, layer));
    return setLayerKey(recipe.layers[index], key, value, types);
  }
  constexpr std::string_view kControls = "controls.";
  if (key == "clip") return setClip(recipe, value);
  if (key.starts_with(kControls)) return setControl(recipe, key.substr(kControls.size()), value);
  const std::size_t dot = key.find('.');
  const std::string_view section = dot == std::string_view::npos ? "" : key.substr(0, dot);
  const std::string_view rest = dot == std::string_view::npos ? key : key.substr(dot + 1);
  return setSectionKey(recipe, section, rest, value);
}

Result<std::size_t> findRecipeLayer(const Recipe& recipe, std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < recipe.layers.size(); ++i) {
    if (recipe.layers[i].name == name) return i;
    names.push_back(recipe.layers[i].name);
  }
  return Error{ErrorCode::BadArgument,
               "no layer \"" + std::string(name) + "\"" + didYouMean(name, names),
               {.file = recipe.origin.file}};
}

std::string freeLayerName(const Recipe& recipe, std::string_view wanted) {
  const auto taken = [&](std::string_view name) {
    return name == "morphs" || name == "skinning" ||
           std::any_of(recipe.layers.begin(), recipe.layers.end(),
                       [&](const RecipeLayer& layer) { return layer.name == name; });
  };
  std::string name(wanted);
  for (int n = 2; taken(name); ++n) name = std::string(wanted) + "_" + std::to_string(n);
  return name;
}

}  // namespace derm
