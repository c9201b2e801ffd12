#include <algorithm>
#include <array>
#include <cmath>

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

/// Keys whose change is worked into no tables, or into none that are larger than a few vertices:
/// what fleshLayer(), wrinklesLayer() and volumeLayer() say about edits.
constexpr std::array<std::string_view, 30> kLiveKeys = {
    "flesh.softness",
    "flesh.frequency_hz",
    "flesh.damping_ratio",
    "flesh.mass_kg",
    "flesh.stiffness",
    "flesh.damping",
    "flesh.integrator",
    "flesh.euler_step_s",
    "flesh.gravity",
    "flesh.gravity_direction",
    "flesh.max_elongation",
    "flesh.soft_limit",
    "flesh.limit",
    "flesh.rotation",
    "flesh.rotation_frequency_hz",
    "flesh.rotation_damping_ratio",
    "flesh.contact",
    "flesh.contact_margin_m",
    "wrinkles.strategy",
    "wrinkles.h_max_m",
    "wrinkles.levels",
    "wrinkles.fine_h_max_m",
    "wrinkles.saturation",
    "wrinkles.soft_start",
    "wrinkles.profile",
    "wrinkles.falloff",
    "wrinkles.rest_length_m",
    "volume.epsilon",
    "volume.sigma",
    "volume.bound",
};
constexpr std::array<std::string_view, 3> kLiveSections = {"fps", "loop", "preroll_s"};

void markLive(Json& fields, std::string_view prefix) {
  for (Json& field : fields) {
    const std::string key = field["key"].get<std::string>();
    const std::string whole = std::string(prefix) + key;
    field["live"] = std::find(kLiveKeys.begin(), kLiveKeys.end(), whole) != kLiveKeys.end() ||
                    (prefix.empty() && std::find(kLiveSections.begin(), kLiveSections.end(), key) !=
                                           kLiveSections.end());
  }
}

}  // namespace

Json recipeFieldsJson() {
  Json sections = Json::array(), layers = Json::array();
  Recipe presets;
  for (const RecipeSection& section : recipeSections(presets)) {
    JsonLister lister;
    section.fields(lister);
    markLive(lister.fields, section.name.empty() ? "" : section.name + ".");
    sections.push_back({{"name", section.name}, {"fields", std::move(lister.fields)}});
  }
  for (const LayerType& type : builtInLayerTypes().all()) {
    JsonLister lister;
    type.make()->fields(lister);
    markLive(lister.fields, type.name + ".");
    layers.push_back(
        {{"type", type.name}, {"summary", type.summary}, {"fields", std::move(lister.fields)}});
  }
  return {{"sections", std::move(sections)}, {"layers", std::move(layers)}};
}

}  // namespace derm::detail::capi
