#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "derm/scene/layer_types.h"
#include "derm/scene/recipe_edit.h"

#include "capi/json_text.h"

namespace derm::detail::capi {
namespace {

/// Turns the description of every key into JSON.
class JsonLister final : public RecipeFields {
 public:
  Json fields = Json::array();

  void flag(std::string_view key, bool& value, std::string_view help) override {
    add(key, "flag", help)["default"] = value;
  }
  void number(std::string_view key, double& value, const NumberRange& range,
              std::string_view help) override {
    Json& field = add(key, "number", help);
    limit(field, range);
    field["default"] = value;
  }
  void number(std::string_view key, std::optional<double>& value, const NumberRange& range,
              std::string_view help) override {
    Json& field = add(key, "number", help);
    limit(field, range);
    if (value) field["default"] = *value;
  }
  void integer(std::string_view key, std::int64_t& value, const NumberRange& range,
               std::string_view help) override {
    Json& field = add(key, "integer", help);
    limit(field, range);
    field["default"] = value;
  }
  void text(std::string_view key, std::string& value, std::string_view help) override {
    add(key, "text", help)["default"] = value;
  }
  void numbers(std::string_view key, std::vector<double>& values, const ListRange& range,
               std::string_view help) override {
    Json& field = add(key, "numbers", help);
    limit(field, range.each);
    field["count"] = {range.min_count, range.max_count};
    field["default"] = values;
  }
  void name(std::string_view key, RecipeName& value, NameKind kind,
            std::string_view help) override {
    Json& field = add(key, kind == NameKind::Joint ? "joint" : "group", help);
    if (!value.text.empty()) field["default"] = value.text;
  }
  void names(std::string_view key, std::vector<RecipeName>&, NameKind kind,
             std::string_view help) override {
    add(key, kind == NameKind::Joint ? "joints" : "groups", help)["default"] = Json::array();
  }
  void word(std::string_view key, std::size_t& index, std::span<const std::string_view> words,
            std::string_view help) override {
    Json& field = add(key, "word", help);
    addWords(field, words);
    field["default"] = words[index];
  }
  void wordOrNames(std::string_view key, std::size_t& index,
                   std::span<const std::string_view> words, std::vector<RecipeName>&, NameKind kind,
                   std::string_view help) override {
    Json& field = add(key, kind == NameKind::Joint ? "word_or_joints" : "word_or_groups", help);
    addWords(field, words);
    field["default"] = words[index];
  }
  void tables(std::string_view key, TableList& list, std::string_view help) override {
    JsonLister inner;
    list.sampleFields(inner);
    add(key, "tables", help)["fields"] = std::move(inner.fields);
  }
  void require(bool, std::string_view, std::string_view) override {}

 private:
  Json& add(std::string_view key, std::string_view kind, std::string_view help) {
    fields.push_back({{"key", key}, {"kind", kind}, {"help", help}});
    return fields.back();
  }
  static void limit(Json& field, const NumberRange& range) {
    if (std::isfinite(range.low)) field["low"] = range.low;
    if (std::isfinite(range.high)) field["high"] = range.high;
    field["unit"] = range.unit;
  }
  static void addWords(Json& field, std::span<const std::string_view> words) {
    field["words"] = Json::array();
    for (const std::string_view word : words) field["words"].push_back(word);
  }
};

/// What shows at once, without a second scene to bind in: kinds of layers whose tables are small or
/// are kept but for what changed (fleshLayer(), wrinklesLayer() on edits), and keys of others that
/// are worked into no tables.
constexpr std::array<std::string_view, 2> kLiveTypes = {"flesh", "wrinkles"};
constexpr std::array<std::string_view, 5> kLiveKeys = {
    "contact.max_move", "contact.passes", "volume.epsilon", "volume.sigma", "volume.bound",
};
constexpr std::array<std::string_view, 2> kLiveSections = {"fps", "loop"};

bool has(std::span<const std::string_view> list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

void markLayerLive(Json& fields, std::string_view type) {
  for (Json& field : fields)
    field["live"] = has(kLiveTypes, type) ||
                    has(kLiveKeys, std::string(type) + "." + field["key"].get<std::string>());
}

void markSectionLive(Json& fields, std::string_view section) {
  for (Json& field : fields)
    field["live"] = section.empty() && has(kLiveSections, field["key"].get<std::string>());
}

}  // namespace

Json recipeFieldsJson() {
  Json sections = Json::array(), layers = Json::array();
  Recipe presets;
  for (const RecipeSection& section : recipeSections(presets)) {
    JsonLister lister;
    section.fields(lister);
    markSectionLive(lister.fields, section.name);
    sections.push_back({{"name", section.name}, {"fields", std::move(lister.fields)}});
  }
  for (const LayerType& type : builtInLayerTypes().all()) {
    JsonLister lister;
    type.make()->fields(lister);
    markLayerLive(lister.fields, type.name);
    layers.push_back(
        {{"type", type.name}, {"summary", type.summary}, {"fields", std::move(lister.fields)}});
  }
  return {{"sections", std::move(sections)}, {"layers", std::move(layers)}};
}

}  // namespace derm::detail::capi
