#include "derm/scene/recipe.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "derm/base/nearest_name.h"
#include "derm/io/file_bytes.h"
#include "derm/scene/recipe_edit.h"

#include "scene/recipe_table.h"
#include "scene/toml_text.h"

namespace derm {
namespace {

using detail::kLayerKeys;

constexpr std::array<std::pair<SeekRule, std::string_view>, 3> kSeekRules = {{
    {SeekRule::Replay, "replay"},
    {SeekRule::Reset, "reset"},
    {SeekRule::Preroll, "preroll"},
}};
/// Keys of the top level that are not plain fields.
constexpr std::array<std::string_view, 6> kOtherKeys = {"clip",       "skinning", "face",
                                                        "simulation", "controls", "layer"};
/// Names that the stack itself gives.
constexpr std::array<std::string_view, 2> kTakenNames = {"morphs", "skinning"};

void plainFields(Recipe& recipe, std::vector<double>& range_s, RecipeFields& f) {
  f.text("character", recipe.character, "cast:NAME, or a path relative to this file");
  f.number("metres_per_unit", recipe.metres_per_unit,
           {1 / Recipe::kMaxMetresPerUnit, Recipe::kMaxMetresPerUnit, "m"},
           "of the character's file; default what the file says");
  f.text("motion", recipe.motion, "a file whose motion is taken by joint names; default none");
  f.text("motion_map", recipe.motion_map, "a file of joint names for it; default by themselves");
  f.require(recipe.motion_map.empty() || !recipe.motion.empty(), "motion_map",
            "a map of joint names is for a motion; none is named");
  f.flag("ground", recipe.ground, "the motion's lowest limb stays on the floor, whatever it is");
  f.require(!recipe.ground || !recipe.motion.empty(), "ground",
            "puts a motion on the floor; none is named");
  f.flag("arms_out", recipe.arms_out, "arms that the motion sinks into the body are turned out");
  f.number("fps", recipe.fps, {Recipe::kMinFps, Recipe::kMaxFps, "Hz"},
           "frames per second of what comes out");
  f.numbers("range_s", range_s, {2, 2, {-1e6, 1e6, "s"}}, "part of the clip; default all of it");
  f.require(range_s.size() != 2 || range_s[0] <= range_s[1], "range_s",
            "a range ends after it starts");
  f.number("preroll_s", recipe.preroll_s, {0, Recipe::kMaxPreroll_s, "s"},
           "simulated before the first frame");
  f.flag("loop", recipe.loop, "the end goes on at the start");
}

void skinningFields(Recipe& recipe, RecipeFields& f) {
  f.choice("method", recipe.skinning, kSkinningMethodNames, "how joints carry the surface");
  f.number("alpha", recipe.skinning_alpha, {0, 1, ""},
           "centre: 0 crowds the inside of a bend, 1 bulges outside");
  f.choice("twist_spread", recipe.twist_spread, kTwistRuleNames,
           "centre: bones along which the twist of the joint at their end is spread");
}

void gainFields(FaceGain& gain, RecipeFields& f) {
  f.text("regions", gain.regions, "parts of the face, or points");
  f.number("factor", gain.gain, {0, 100, ""}, "of their motion");
}

void faceMotionFields(FaceMotionChoice& motion, RecipeFields& f) {
  f.text("source", motion.source, "cast:NAME, or a file: a character, .csv, .json or .bvh");
  f.text("clip", motion.clip, "of a character: name or number; default the first");
  f.text("map", motion.map, "a file of marker names; default as they are");
  f.text("regions", motion.regions, "parts of the face, or points, with commas; default all");
  f.tables("gain", motion.gains, gainFields, "parts whose motion is larger or smaller");
  f.number("offset_s", motion.offset_s, {-1e6, 1e6, "s"}, "later by so much");
  f.flag("fit_head", motion.fit_head, "the head's motion is in the positions");
  f.require(!motion.source.empty(), "source", "missing; a motion has a source");
}

void faceFields(RecipeFace& face, RecipeFields& f) {
  f.tables("motion", face.motions, faceMotionFields,
           "motions of other faces; the last has its regions");
  f.choice("kernel", face.kernel, kFaceKernelNames, "of the map between two faces");
  f.number("amplitude", face.amplitude, {0, 1, ""},
           "0: all by the map, 1: in proportion to the faces' units");
  f.flag("head", face.head, "the head moves too");
}

void simulationFields(Recipe& recipe, RecipeFields& f) {
  f.choice("seek", recipe.seek, kSeekRules,
           "what a jump in time does to layers with a memory: as if played, at rest, pre-rolled");
  f.number("rate_hz", recipe.inner_rate_hz, {1, 100000, "Hz"}, "fixed step of such layers");
  f.number("teleport_m", recipe.teleport_m, {1e-9, 1e9, "m"},
           "a move larger than this in one step is a cut; default half the character's size");
}

Error badValue(const Recipe& recipe, const SourceLocation& location, std::string element,
               std::string message) {
  Error error{ErrorCode::BadData,
              std::move(message),
              {.file = recipe.origin.file, .element = std::move(element)}};
  if (location.line > 0) {
    error.where.line = location.line;
    error.where.column = location.column;
  }
  return error;
}

/// A sub-table such as [skinning].
Result<void> readSection(const RecipeValue::Table& top, std::string_view key, const Recipe& recipe,
                         const FieldList& fields) {
  const RecipeEntry* entry = find(top, key);
  if (entry == nullptr) return {};
  const auto* table = std::get_if<RecipeValue::Table>(&entry->value.content);
  if (table == nullptr)
    return badValue(
        recipe, entry->value.location, std::string(key),
        "expected a table, [" + std::string(key) + "], found " + std::string(kindOf(entry->value)));
  return readFields(*table, recipe.origin.file, key, fields);
}

Result<ClipChoice> readClip(const RecipeValue::Table& top, const Recipe& recipe) {
  const RecipeEntry* entry = find(top, "clip");
  if (entry == nullptr) return ClipChoice();
  if (const auto* name = std::get_if<std::string>(&entry->value.content)) return ClipChoice(*name);
  const auto* number = std::get_if<std::int64_t>(&entry->value.content);
  if (number != nullptr && *number >= 0) return ClipChoice(*number);
  return badValue(recipe, entry->value.location, "clip",
                  "expected the name of a clip or its number, found " + toToml(entry->value));
}

/// [controls]: a number for each name.
Result<void> readControls(const RecipeValue::Table& top, Recipe& recipe) {
  const RecipeEntry* entry = find(top, "controls");
  if (entry == nullptr) return {};
  const auto* table = std::get_if<RecipeValue::Table>(&entry->value.content);
  if (table == nullptr)
    return badValue(recipe, entry->value.location, "controls",
                    "expected a table, [controls], found " + std::string(kindOf(entry->value)));
  for (const RecipeEntry& e : *table) {
    double value = 0;
    if (const auto* number = std::get_if<double>(&e.value.content))
      value = *number;
    else if (const auto* whole = std::get_if<std::int64_t>(&e.value.content))
      value = static_cast<double>(*whole);
    else
      return badValue(recipe, e.value.location, "controls." + e.key,
                      "expected a number, found " + std::string(kindOf(e.value)));
    if (!std::isfinite(static_cast<float>(value)))
      return badValue(recipe, e.value.location, "controls." + e.key, "expected a finite number");
    recipe.controls.emplace_back(e.key, value);
    recipe.origin.values["controls." + e.key] = e.value.location;
  }
  return {};
}

/// Keys that every layer has: those of kLayerKeys.
void headFields(RecipeLayer& layer, RecipeFields& f) {
  f.text("type", layer.type, "which kind of layer");
  f.text("name", layer.name, "what it is called");
  f.flag("enabled", layer.enabled, "false leaves it out");
  f.flag("before_skinning", layer.before_skinning, "it shapes the surface in the bind pose");
}

Result<RecipeLayer> readLayerHead(const RecipeValue::Table& table, const SourceLocation& location,
                                  const std::string& element, const Recipe& recipe,
                                  const LayerTypes& types) {
  RecipeLayer layer{.location = location};
  if (find(table, "type") == nullptr)
    return badValue(recipe, location, element + ".type", "missing; a layer needs a type");
  RecipeValue::Table head;
  for (const RecipeEntry& e : table) {
    const bool ours = std::find(kLayerKeys.begin(), kLayerKeys.end(), e.key) != kLayerKeys.end();
    (ours ? head : layer.keys).push_back(e);
  }
  DERM_CHECK(readFields(head, recipe.origin.file, element,
                        [&](RecipeFields& f) { headFields(layer, f); }));
  if (types.find(layer.type) != nullptr) return layer;
  std::string known;
  for (const std::string& name : types.names())
    known += (known.empty() ? "\"" : ", \"") + name + "\"";
  const std::vector<std::string> near = nearestNames(layer.type, types.names(), 1);
  return badValue(recipe, find(table, "type")->value.location, element + ".type",
                  "unknown layer type \"" + layer.type + "\"; known are " +
                      (known.empty() ? "none" : known) +
                      (near.empty() ? "" : "; did you mean \"" + near.front() + "\"?"));
}

Result<void> nameLayers(const RecipeValue::List& list, Recipe& recipe) {
  std::set<std::string, std::less<>> taken(kTakenNames.begin(), kTakenNames.end());
  for (std::size_t i = 0; i < recipe.layers.size(); ++i) {
    const RecipeLayer& layer = recipe.layers[i];
    const auto& table = std::get<RecipeValue::Table>(list[i].content);
    const RecipeEntry* given = find(table, "name");
    if (given == nullptr) continue;
    const std::string element = "layer[" + std::to_string(i) + "].name";
    if (layer.name.empty())
      return badValue(recipe, given->value.location, element, "a name has at least one letter");
    if (!taken.insert(layer.name).second)
      return badValue(recipe, given->value.location, element,
                      "another layer is named \"" + layer.name + "\"");
  }
  for (RecipeLayer& layer : recipe.layers) {
    if (!layer.name.empty()) continue;
    layer.name = layer.type;
    for (int n = 2; !taken.insert(layer.name).second; ++n)
      layer.name = layer.type + "_" + std::to_string(n);
  }
  return {};
}

Result<void> readLayers(const RecipeValue::Table& top, const LayerTypes& types, Recipe& recipe) {
  const RecipeEntry* entry = find(top, "layer");
  if (entry == nullptr) return {};
  const auto* list = std::get_if<RecipeValue::List>(&entry->value.content);
  if (list == nullptr)
    return badValue(
        recipe, entry->location, "layer",
        "expected a list of tables, [[layer]], found " + std::string(kindOf(entry->value)));
  if (list->size() > Recipe::kMaxLayers)
    return badValue(recipe, entry->location, "layer",
                    std::to_string(list->size()) + " layers; at most " +
                        std::to_string(Recipe::kMaxLayers) + " are accepted");
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string element = "layer[" + std::to_string(i) + "]";
    const auto* table = std::get_if<RecipeValue::Table>(&(*list)[i].content);
    if (table == nullptr)
      return badValue(recipe, (*list)[i].location, element,
                      "expected a table, found " + std::string(kindOf((*list)[i])));
    DERM_TRY(RecipeLayer layer, readLayerHead(*table, (*list)[i].location, element, recipe, types));
    const std::unique_ptr<LayerParameters> parameters = types.find(layer.type)->make();
    DERM_CHECK(readFields(
        layer.keys, recipe.origin.file, element, [&](RecipeFields& f) { parameters->fields(f); },
        kLayerKeys));
    recipe.layers.push_back(std::move(layer));
  }
  return nameLayers(*list, recipe);
}

void writeTable(const RecipeValue::Table& table, std::string& out) {
  for (const RecipeEntry& e : table) {
    // A key is written as an inline table of one would: quoted where it must be.
    std::string line = toToml({.content = RecipeValue::Table{e}});
    out += line.substr(2, line.size() - 4) + "\n";
  }
}

/// What differs from the defaults.
RecipeValue::Table changed(RecipeValue::Table now, const RecipeValue::Table& preset) {
  std::erase_if(now, [&](const RecipeEntry& e) {
    return std::find(preset.begin(), preset.end(), e) != preset.end();
  });
  return now;
}

}  // namespace

bool Recipe::operator==(const Recipe& o) const {
  return character == o.character && metres_per_unit == o.metres_per_unit && motion == o.motion &&
         motion_map == o.motion_map && ground == o.ground && arms_out == o.arms_out &&
         face == o.face && clip == o.clip && fps == o.fps && range_s == o.range_s &&
         preroll_s == o.preroll_s && loop == o.loop && skinning == o.skinning &&
         skinning_alpha == o.skinning_alpha && twist_spread == o.twist_spread && seek == o.seek &&
         inner_rate_hz == o.inner_rate_hz && teleport_m == o.teleport_m && controls == o.controls &&
         layers == o.layers;
}

Where Recipe::where(std::string_view key) const {
  if (const auto option = origin.options.find(key); option != origin.options.end())
    return {.element = option->second};
  Where out{.file = origin.file, .element = std::string(key)};
  const auto location = origin.values.find(key);
  if (location == origin.values.end() || location->second.line == 0) return out;
  out.line = location->second.line;
  out.column = location->second.column;
  return out;
}

Result<Recipe> parseRecipe(std::string_view text, std::string_view name, const LayerTypes& types) {
  if (text.size() > Recipe::kMaxBytes)
    return Error{ErrorCode::BadData,
                 std::to_string(text.size()) + " bytes; a recipe has at most " +
                     std::to_string(Recipe::kMaxBytes),
                 {.file = std::string(name)}};
  DERM_TRY(const RecipeValue::Table top, detail::parseToml(text, name));
  Recipe recipe;
  recipe.origin.file = std::string(name);
  for (const RecipeEntry& e : top) recipe.origin.values[e.key] = e.value.location;
  std::vector<double> range_s;
  DERM_CHECK(readFields(
      top, name, "", [&](RecipeFields& f) { plainFields(recipe, range_s, f); }, kOtherKeys));
  if (range_s.size() == 2) recipe.range_s = {range_s[0], range_s[1]};
  DERM_TRY(recipe.clip, readClip(top, recipe));
  DERM_CHECK(
      readSection(top, "skinning", recipe, [&](RecipeFields& f) { skinningFields(recipe, f); }));
  DERM_CHECK(
      readSection(top, "face", recipe, [&](RecipeFields& f) { faceFields(recipe.face, f); }));
  DERM_CHECK(readSection(top, "simulation", recipe,
                         [&](RecipeFields& f) { simulationFields(recipe, f); }));
  DERM_CHECK(readControls(top, recipe));
  DERM_CHECK(readLayers(top, types, recipe));
  return recipe;
}

Result<Recipe> loadRecipe(const std::filesystem::path& file, const LayerTypes& types) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file, Recipe::kMaxBytes));
  return parseRecipe({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string(),
                     types);
}

std::vector<std::string> filesBesideCharacter(const Recipe& recipe, const LayerTypes& types) {
  std::vector<std::string> out = {recipe.motion, recipe.motion_map};
  for (const FaceMotionChoice& motion : recipe.face.motions) {
    out.push_back(motion.source);
    out.push_back(motion.map);
  }
  for (const RecipeLayer& layer : recipe.layers) {
    const LayerType* type = types.find(layer.type);
    if (!layer.enabled || type == nullptr) continue;
    const std::unique_ptr<LayerParameters> parameters = type->make();
    const Result<void> read = readFields(layer.keys, recipe.origin.file, layer.name,
                                         [&](RecipeFields& f) { parameters->fields(f); });
    if (!read) continue;  // opening the scene says what is wrong
    for (std::string& file : parameters->files()) out.push_back(std::move(file));
  }
  std::erase_if(out, [](const std::string& file) {
    return file.empty() || std::string_view(file).starts_with("cast:");
  });
  return out;
}

RecipeValue::Table detail::recipeTable(Recipe recipe) {
  std::vector<double> range_s;
  if (recipe.range_s) range_s.assign(recipe.range_s->begin(), recipe.range_s->end());
  RecipeValue::Table out = writeFields([&](RecipeFields& f) { plainFields(recipe, range_s, f); });
  if (!recipe.range_s) std::erase_if(out, [](const RecipeEntry& e) { return e.key == "range_s"; });
  if (const auto* name = std::get_if<std::string>(&recipe.clip))
    out.push_back({.key = "clip", .value = {.content = *name}});
  else if (const auto* number = std::get_if<std::int64_t>(&recipe.clip))
    out.push_back({.key = "clip", .value = {.content = *number}});
  const auto addSection = [&](std::string_view key, const FieldList& fields) {
    out.push_back({.key = std::string(key), .value = {.content = writeFields(fields)}});
  };
  addSection("skinning", [&](RecipeFields& f) { skinningFields(recipe, f); });
  addSection("face", [&](RecipeFields& f) { faceFields(recipe.face, f); });
  addSection("simulation", [&](RecipeFields& f) { simulationFields(recipe, f); });
  RecipeValue::Table controls;
  for (const auto& [name, value] : recipe.controls)
    controls.push_back({.key = name, .value = {.content = value}});
  out.push_back({.key = "controls", .value = {.content = std::move(controls)}});
  return out;
}

std::vector<RecipeSection> recipeSections(Recipe& recipe) {
  return {{"",
           [&recipe](RecipeFields& f) {
             std::vector<double> range_s;
             if (recipe.range_s) range_s.assign(recipe.range_s->begin(), recipe.range_s->end());
             plainFields(recipe, range_s, f);
             recipe.range_s.reset();
             if (range_s.size() == 2) recipe.range_s = {range_s[0], range_s[1]};
           }},
          {"skinning", [&recipe](RecipeFields& f) { skinningFields(recipe, f); }},
          {"face", [&recipe](RecipeFields& f) { faceFields(recipe.face, f); }},
          {"simulation", [&recipe](RecipeFields& f) { simulationFields(recipe, f); }}};
}

RecipeValue::Table detail::layerHead(RecipeLayer layer) {
  return writeFields([&](RecipeFields& f) { headFields(layer, f); });
}

std::string writeRecipe(const Recipe& recipe) {
  const RecipeValue::Table preset = detail::recipeTable(Recipe());
  std::string out, sections;
  for (const RecipeEntry& e : changed(detail::recipeTable(recipe), preset)) {
    const auto* section = std::get_if<RecipeValue::Table>(&e.value.content);
    if (section == nullptr) {
      writeTable({e}, out);
      continue;
    }
    sections += "\n[" + e.key + "]\n";
    const RecipeEntry* usual = find(preset, e.key);
    writeTable(changed(*section, std::get<RecipeValue::Table>(usual->value.content)), sections);
  }
  out += sections;
  for (const RecipeLayer& layer : recipe.layers) {
    out += "\n[[layer]]\n";
    writeTable(changed(detail::layerHead(layer), detail::layerHead(RecipeLayer())), out);
    writeTable(layer.keys, out);
  }
  return out;
}

}  // namespace derm
