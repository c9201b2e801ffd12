#include "derm/scene/scene.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "derm/base/nearest_name.h"
#include "derm/cast/cast.h"
#include "derm/deform/basic_layers.h"
#include "derm/face/face_rig.h"
#include "derm/io/character_file.h"
#include "derm/io/png.h"
#include "derm/scene/motion.h"

namespace derm {
namespace {

constexpr std::string_view kCastPrefix = "cast:";
/// A frame this near the end, in frames, is on it: clip lengths are floats.
constexpr double kOnFrame = 1e-4;

Error badRecipe(const Recipe& recipe, std::string_view key, std::string message) {
  const bool option = recipe.origin.options.contains(key);
  return Error{option ? ErrorCode::BadArgument : ErrorCode::BadData, std::move(message),
               recipe.where(key)};
}

/// A recipe made in memory has not been through parseRecipe().
Result<void> checkNumbers(const Recipe& recipe) {
  if (!(recipe.fps >= Recipe::kMinFps && recipe.fps <= Recipe::kMaxFps))
    return badRecipe(recipe, "fps", "expected a number, 0.001 to 1000 [Hz]");
  if (recipe.metres_per_unit && !(*recipe.metres_per_unit >= 1 / Recipe::kMaxMetresPerUnit &&
                                  *recipe.metres_per_unit <= Recipe::kMaxMetresPerUnit))
    return badRecipe(recipe, "metres_per_unit", "expected a number, 1e-9 to 1e9 [m]");
  if (!(recipe.preroll_s >= 0 && recipe.preroll_s <= Recipe::kMaxPreroll_s))
    return badRecipe(recipe, "preroll_s", "expected a number, 0 to 3600 [s]");
  if (recipe.range_s) {
    const auto [start, end] = *recipe.range_s;
    if (!std::isfinite(start) || !std::isfinite(end) || start > end)
      return badRecipe(recipe, "range_s", "a range ends after it starts");
  }
  if (recipe.layers.size() > Recipe::kMaxLayers)
    return badRecipe(recipe, "layer",
                     std::to_string(recipe.layers.size()) + " layers; at most " +
                         std::to_string(Recipe::kMaxLayers) + " are accepted");
  return {};
}

std::filesystem::path folderOf(const Recipe& recipe) {
  return std::filesystem::path(recipe.origin.file).parent_path();
}

/// What went wrong with the file that a key names. Where the key points nowhere, its line is the
/// one to mend; a broken file speaks for itself.
Error badFile(const Recipe& recipe, std::string_view key, Error error) {
  const bool nowhere = error.code == ErrorCode::CannotRead || error.code == ErrorCode::BadArgument;
  if (nowhere && !recipe.origin.file.empty()) return badRecipe(recipe, key, error.text());
  return error;
}

Result<std::shared_ptr<const Character>> ownCharacter(const Recipe& recipe,
                                                      const SceneOptions& options,
                                                      Diagnostics& notes) {
  if (options.character != nullptr) return options.character;
  if (recipe.character.empty())
    return badRecipe(recipe, "character", "missing: no character is named");
  ImportOptions import = options.import;
  if (!import.metres_per_unit) import.metres_per_unit = recipe.metres_per_unit;
  Result<Character> opened = openCharacter(recipe.character, folderOf(recipe), import, notes);
  if (opened) return std::make_shared<const Character>(*std::move(opened));
  return badFile(recipe, "character", std::move(opened).error());
}

/// Adds what the face plays: a clip of its own, or into that of the body's motion.
Result<void> addFace(const Recipe& recipe, Character& character, Diagnostics& notes) {
  FaceMotionOptions options;
  options.retarget.kernel = recipe.face.kernel;
  options.retarget.amplitude = recipe.face.amplitude;
  const bool with_body = !recipe.motion.empty();
  options.head = recipe.face.head && !with_body;  // the body's motion has the head
  DERM_TRY(const FaceMotion played,
           addFaceMotion(recipe.face.motions, folderOf(recipe), options, character, notes));
  static_cast<void>(played);
  if (!with_body) return {};
  const Clip face = std::move(character.clips.back());
  character.clips.pop_back();
  std::vector<Track>& tracks = character.clips.back().tracks;
  tracks.insert(tracks.end(), face.tracks.begin(), face.tracks.end());
  return {};
}

Result<std::unique_ptr<LayerParameters>> parametersOf(const Recipe& recipe, std::size_t index,
                                                      const LayerTypes& types) {
  const RecipeLayer& layer = recipe.layers[index];
  const LayerType* type = types.find(layer.type);
  if (type == nullptr)
    return badRecipe(
        recipe, "layer",
        "unknown layer type \"" + layer.type + "\"" + didYouMean(layer.type, types.names()));
  std::unique_ptr<LayerParameters> parameters = type->make();
  DERM_CHECK(readFields(layer.keys, recipe.origin.file, "layer[" + std::to_string(index) + "]",
                        [&](RecipeFields& f) { parameters->fields(f); }));
  return parameters;
}

/// The layers that bring something into the character: their parameters and names.
Result<std::vector<std::pair<std::unique_ptr<LayerParameters>, std::string>>> layersThatChangeIt(
    const Recipe& recipe, const LayerTypes& types) {
  std::vector<std::pair<std::unique_ptr<LayerParameters>, std::string>> out;
  for (std::size_t i = 0; i < recipe.layers.size(); ++i) {
    DERM_TRY(std::unique_ptr<LayerParameters> parameters, parametersOf(recipe, i, types));
    if (recipe.layers[i].enabled && parameters->changesCharacter())
      out.emplace_back(std::move(parameters), recipe.layers[i].name);
  }
  return out;
}

/// With the recipe's motions, if any, as its last clip, and what layers bring.
Result<std::shared_ptr<const Character>> characterOf(const Recipe& recipe,
                                                     const SceneOptions& options,
                                                     const LayerTypes& types, Diagnostics& notes) {
  DERM_TRY(const std::shared_ptr<const Character> own, ownCharacter(recipe, options, notes));
  DERM_TRY(const auto layers, layersThatChangeIt(recipe, types));
  if (recipe.motion.empty() && recipe.face.motions.empty() && layers.empty()) return own;
  Character changed = *own;
  if (!recipe.motion.empty()) {
    Result<void> added = addMotion(
        recipe.motion, recipe.motion_map, folderOf(recipe), changed, notes,
        {.ground = recipe.ground, .arms_out = recipe.arms_out, .progress = options.progress});
    if (!added) return badFile(recipe, "motion", std::move(added).error());
  }
  if (!recipe.face.motions.empty()) {
    Result<void> added = addFace(recipe, changed, notes);
    if (!added) return badFile(recipe, "face", std::move(added).error());
  }
  for (const auto& [parameters, name] : layers) {
    Result<void> brought = parameters->changeCharacter(name, folderOf(recipe), changed);
    if (!brought) return badFile(recipe, "layer", std::move(brought).error());
  }
  return std::make_shared<const Character>(std::move(changed));
}

Result<const Clip*> clipOf(const Recipe& recipe, const Character& character) {
  if (std::holds_alternative<std::monostate>(recipe.clip)) {
    if (character.clips.empty()) return nullptr;
    const bool own = recipe.motion.empty() && recipe.face.motions.empty();
    return own ? &character.clips.front() : &character.clips.back();
  }
  if (const auto* number = std::get_if<std::int64_t>(&recipe.clip)) {
    if (*number >= 0 && static_cast<std::uint64_t>(*number) < character.clips.size())
      return &character.clips[static_cast<std::size_t>(*number)];
    return badRecipe(recipe, "clip",
                     "no clip " + std::to_string(*number) + "; there are " +
                         std::to_string(character.clips.size()));
  }
  const std::string& name = std::get<std::string>(recipe.clip);
  if (name.empty()) return nullptr;
  const Result<std::size_t> found = character.findClip(name);
  if (!found) return badRecipe(recipe, "clip", found.error().message);
  return &character.clips[*found];
}

std::string seconds(double s) { return toToml({.content = s}) + " s"; }

Result<std::array<double, 2>> rangeOf(const Recipe& recipe, const Clip* clip, Diagnostics& notes) {
  if (clip == nullptr) return recipe.range_s.value_or(std::array{0.0, 0.0});
  const double length = clip->duration_s();
  if (!recipe.range_s) return std::array{0.0, length};
  const auto [start, end] = *recipe.range_s;
  if (start > length || end < 0)
    return badRecipe(
        recipe, "range_s",
        "lies outside the clip \"" + clip->name + "\", which lasts " + seconds(length));
  if (start < 0 || end > length)
    notes.warn("range-cut", recipe.origin.file,
               recipe.where("range_s").element + " leaves the clip \"" + clip->name +
                   "\", which lasts " + seconds(length) + "; cut to it");
  return std::array{std::max(start, 0.0), std::min(end, length)};
}

Result<std::vector<double>> frameTimesOf(const Recipe& recipe, const std::array<double, 2>& range) {
  const double frames = (range[1] - range[0]) * recipe.fps;
  if (!(frames + 1 <= static_cast<double>(Scene::kMaxFrames)))
    return badRecipe(recipe, "fps",
                     std::to_string(std::llround(frames)) + " frames; at most " +
                         std::to_string(Scene::kMaxFrames) + " are made at once");
  const double last =
      recipe.loop ? std::ceil(frames - kOnFrame) - 1 : std::floor(frames + kOnFrame);
  std::vector<double> times;
  for (std::size_t i = 0; static_cast<double>(i) <= std::max(last, 0.0); ++i)
    times.push_back(std::min(range[0] + static_cast<double>(i) / recipe.fps, range[1]));
  return times;
}

/// Where the value stands that an error is about ("fixed", "swell[0]"); else the [[layer]].
SourceLocation locationOf(const RecipeLayer& layer, std::string_view element) {
  const RecipeEntry* entry = find(layer.keys, element.substr(0, element.find_first_of("[.")));
  return entry != nullptr && entry->value.location.line > 0 ? entry->value.location
                                                            : layer.location;
}

/// Passes a layer's own error on with its location in the recipe, unless it knows a better one.
LayerFactory located(const LayerFactory& make, const Recipe& recipe, const RecipeLayer& layer) {
  return make.withErrors([file = recipe.origin.file, name = layer.name, layer](Error error) {
    if (error.where.line) return error;
    const SourceLocation location = locationOf(layer, error.where.element);
    // What a file says is data, not an argument of whoever opens it.
    if (!file.empty() && error.code == ErrorCode::BadArgument) error.code = ErrorCode::BadData;
    error.where.file = file;
    error.where.element =
        "layer \"" + name + "\"" + (error.where.element.empty() ? "" : " " + error.where.element);
    if (location.line > 0) {
      error.where.line = location.line;
      error.where.column = location.column;
    }
    return error;
  });
}

/// The recipe's enabled layers on one side of skinning, in order.
Result<void> addLayers(const Recipe& recipe, const LayerTypes& types, bool before_skinning,
                       std::vector<LayerFactory>& out) {
  std::unique_ptr<LayerParameters> last;  // of the last enabled layer, which may take in more
  const RecipeLayer* last_layer = nullptr;
  const auto finish = [&] {
    if (last != nullptr)
      out.push_back(located(last->factory(last_layer->name), recipe, *last_layer));
  };
  for (std::size_t i = 0; i < recipe.layers.size(); ++i) {
    const RecipeLayer& layer = recipe.layers[i];
    if (layer.before_skinning != before_skinning) continue;
    DERM_TRY(std::unique_ptr<LayerParameters> parameters, parametersOf(recipe, i, types));
    if (!layer.enabled) continue;
    if (last != nullptr && last_layer->type == layer.type && last->join(*parameters, layer.name))
      continue;
    finish();
    last = std::move(parameters);
    last_layer = &layer;
  }
  finish();
  return {};
}

Result<std::vector<LayerFactory>> layersOf(const Recipe& recipe, const Character& character,
                                           const LayerTypes& types) {
  std::vector<LayerFactory> out = {morphLayer()};
  DERM_CHECK(addLayers(recipe, types, true, out));
  out.push_back(skinningLayer({.method = recipe.skinning,
                               .alpha = recipe.skinning_alpha,
                               .twist_spread = recipe.twist_spread,
                               .surface_normals = findFaceRig(character).has_value()}));
  DERM_CHECK(addLayers(recipe, types, false, out));
  return out;
}

Result<std::vector<std::pair<std::size_t, float>>> controlsOf(const Recipe& recipe,
                                                              const Character& character) {
  std::vector<std::pair<std::size_t, float>> out;
  for (const auto& [name, value] : recipe.controls) {
    const Result<std::size_t> control = character.findControl(name);
    if (!control) return badRecipe(recipe, "controls." + name, control.error().message);
    out.emplace_back(*control, static_cast<float>(value));
  }
  return out;
}

/// What a recipe asks for, found and bound.
struct Asked {
  const Clip* clip = nullptr;
  std::vector<double> frame_times;
  std::shared_ptr<const Stack> stack;
  PlaybackDesc playback;
};

Result<Asked> ask(const Recipe& recipe, const std::shared_ptr<const Character>& character,
                  const LayerTypes& types, Topology topology, const Stack* before,
                  Diagnostics& notes) {
  Asked out;
  DERM_TRY(out.clip, clipOf(recipe, *character));
  DERM_TRY(const auto range, rangeOf(recipe, out.clip, notes));
  DERM_TRY(out.frame_times, frameTimesOf(recipe, range));
  DERM_TRY(const std::vector<LayerFactory> layers, layersOf(recipe, *character, types));
  DERM_TRY(auto controls, controlsOf(recipe, *character));
  DERM_TRY(out.stack, before != nullptr ? before->rebind(layers, notes)
                                        : Stack::bind(character, layers, notes));
  out.playback = {.start_s = range[0],
                  .end_s = range[1],
                  .preroll_s = recipe.preroll_s,
                  .loop = recipe.loop,
                  .seek = recipe.seek,
                  .inner_rate_hz = recipe.inner_rate_hz,
                  .teleport_m = recipe.teleport_m,
                  .topology = topology,
                  .controls = std::move(controls)};
  return out;
}

/// Whether the clock is the same; controls may differ.
bool sameMotion(const PlaybackDesc& a, const PlaybackDesc& b) {
  return a.start_s == b.start_s && a.end_s == b.end_s && a.preroll_s == b.preroll_s &&
         a.loop == b.loop && a.seek == b.seek && a.inner_rate_hz == b.inner_rate_hz &&
         a.teleport_m == b.teleport_m;
}

}  // namespace

Result<Character> openCharacter(std::string_view source, const std::filesystem::path& folder,
                                const ImportOptions& options, Diagnostics& notes) {
  if (!source.starts_with(kCastPrefix)) return loadCharacter(folder / source, options, notes);
  DERM_TRY(Character member, makeCastMember(source.substr(kCastPrefix.size()), encodePng));
  if (options.metres_per_unit && *options.metres_per_unit != 1.0)
    scaleLengths(member, *options.metres_per_unit);
  return member;
}

const SkinFrame& Scene::frame(std::size_t index, std::span<double> layer_seconds) {
  if (recipe_.loop) index %= frame_times_.size();
  DERM_REQUIRE(index < frame_times_.size());
  return playback_.frameAt(frame_times_[index], layer_seconds);
}

Result<std::shared_ptr<const Stack>> Scene::linearReferenceStack() const {
  Diagnostics said_already;
  if (&stack().output() == &stack().input())
    return Stack::bind(character_, std::array{morphLayer(), skinningLayer({})}, said_already);
  Character fine;
  fine.name = character_->name;
  fine.mesh = stack().output().rest;
  fine.skeleton = character_->skeleton;
  fine.skin = stack().output().skin;
  addDefaultParts(fine);
  return Stack::bind(std::make_shared<const Character>(std::move(fine)),
                     std::array{skinningLayer({})}, said_already);
}

Result<void> Scene::keepChannels(std::span<const std::string> names) {
  std::vector<std::string> known = stack().channels();
  for (std::string& mask : stack().masks()) known.push_back(std::move(mask));
  std::vector<std::string> kept = playback_.desc().channels;
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return Error{
          ErrorCode::BadArgument,
          "no layer writes a channel \"" + name + "\"" + didYouMean(name, known),
          {.element = recipe_.origin.file.empty() ? character_->name : recipe_.origin.file}};
    if (std::find(kept.begin(), kept.end(), name) == kept.end()) kept.push_back(name);
  }
  playback_.keepChannels(std::move(kept));
  return {};
}

Result<Scene> Scene::make(const Recipe& recipe, std::shared_ptr<const Character> character,
                          const LayerTypes& types, Topology topology, const Stack* before,
                          Diagnostics& notes) {
  DERM_TRY(Asked asked, ask(recipe, character, types, topology, before, notes));
  DERM_TRY(Playback playback, Playback::make(std::move(asked.stack), asked.clip, asked.playback));
  Scene scene(std::move(playback));
  scene.recipe_ = recipe;
  scene.character_ = std::move(character);
  scene.clip_ = asked.clip;
  scene.types_ = &types;
  scene.frame_times_ = std::move(asked.frame_times);
  return scene;
}

Result<void> Scene::checkSameCharacter(const Recipe& recipe) const {
  if (recipe.character != recipe_.character || recipe.metres_per_unit != recipe_.metres_per_unit ||
      recipe.motion != recipe_.motion || recipe.motion_map != recipe_.motion_map ||
      recipe.ground != recipe_.ground || recipe.arms_out != recipe_.arms_out ||
      recipe.face != recipe_.face)
    return badRecipe(recipe, "character",
                     "another character or motion is another scene: open it anew");
  return checkNumbers(recipe);
}

Result<Scene> Scene::another(const Recipe& recipe, Diagnostics& notes) const {
  DERM_CHECK(checkSameCharacter(recipe));
  return make(recipe, character_, *types_, playback_.desc().topology, &stack(), notes);
}

Result<void> Scene::change(const Recipe& recipe, Diagnostics& notes) {
  DERM_CHECK(checkSameCharacter(recipe));
  DERM_TRY(Asked asked,
           ask(recipe, character_, *types_, playback_.desc().topology, &stack(), notes));
  // Another clip, range or clock is another motion: it starts anew. Layers and controls go on.
  if (asked.clip == clip_ && sameMotion(asked.playback, playback_.desc())) {
    playback_.change(std::move(asked.stack));
    for (std::size_t i = 0; i < character_->controls.size(); ++i) playback_.setControl(i, {});
    for (const auto& [control, value] : asked.playback.controls)
      playback_.setControl(control, value);
  } else {
    DERM_TRY(Playback playback, Playback::make(std::move(asked.stack), asked.clip, asked.playback));
    playback.keepChannels(playback_.desc().channels);
    playback_ = std::move(playback);
  }
  recipe_ = recipe;
  clip_ = asked.clip;
  frame_times_ = std::move(asked.frame_times);
  return {};
}

Result<Scene> openScene(const Recipe& recipe, const SceneOptions& options, Diagnostics& notes) {
  DERM_CHECK(checkNumbers(recipe));
  const LayerTypes& types = options.types != nullptr ? *options.types : builtInLayerTypes();
  DERM_TRY(std::shared_ptr<const Character> character, characterOf(recipe, options, types, notes));
  return Scene::make(recipe, std::move(character), types, options.topology, nullptr, notes);
}

}  // namespace derm
