#include <filesystem>

#include <fmt/format.h>

#include "derm/scene/motion.h"

#include "character_input.h"
#include "character_report.h"
#include "recipe_input.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

struct InfoOptions {
  CharacterInput input;
  std::string motion, map;
  bool joints = false;
};

/// Every pair on a line of its own, as a table for --map has them.
void tellMatch(const std::string& file, const MotionMatch& match) {
  jsonAnswer()["motion"] = {{"file", file},
                            {"matched", match.pairs},
                            {"moves_nothing", match.source_left},
                            {"stays_at_rest", match.target_left}};
  tell("{:<12} {}: {}\n", "motion", file, match.text());
  for (const auto& [source, target] : match.pairs) tell("{:<12} {} = {}\n", "", source, target);
  tell("\n");
}

nlohmann::json clipOf(const Recipe& recipe) {
  if (const auto* name = std::get_if<std::string>(&recipe.clip)) return *name;
  if (const auto* number = std::get_if<std::int64_t>(&recipe.clip)) return *number;
  return {};
}

void tellRecipe(const Recipe& recipe, const std::string& file) {
  nlohmann::json layers = nlohmann::json::array();
  for (const RecipeLayer& layer : recipe.layers)
    layers.push_back({{"type", layer.type}, {"name", layer.name}, {"enabled", layer.enabled}});
  const nlohmann::json clip = clipOf(recipe);
  jsonAnswer()["recipe"] = {{"file", file},
                            {"character", recipe.character},
                            {"motion", recipe.motion},
                            {"clip", clip},
                            {"fps", recipe.fps},
                            {"skinning", name(recipe.skinning)},
                            {"layers", layers}};
  tell("{:<12} {}\n", "recipe", file);
  if (!recipe.motion.empty()) tell("{:<12} {}\n", "motion", recipe.motion);
  if (!clip.is_null()) tell("{:<12} {}\n", "clip", clip.dump());
  tell("{:<12} {}\n", "skinning", name(recipe.skinning));
  for (const RecipeLayer& layer : recipe.layers)
    tell("{:<12} {:<10} \"{}\"{}\n", "layer", layer.type, layer.name,
         layer.enabled ? "" : " (off)");
  tell("\n");
}

Result<void> runInfo(const InfoOptions& options, Diagnostics& notes) {
  std::string source = options.input.source;
  std::filesystem::path folder;
  ImportOptions import;
  DERM_TRY(import.metres_per_unit, options.input.scale());
  if (isRecipe(source)) {
    DERM_TRY(const Recipe recipe, loadRecipe(source));
    tellRecipe(recipe, source);
    folder = std::filesystem::path(source).parent_path();
    source = recipe.character;
    if (!import.metres_per_unit) import.metres_per_unit = recipe.metres_per_unit;
  }
  DERM_TRY(const Character character, openCharacter(source, folder, import, notes));
  if (!options.motion.empty()) {
    DERM_TRY(const MotionMatch match,
             matchMotion(options.motion, options.map, {}, character, notes));
    tellMatch(options.motion, match);
  }
  const CharacterReport r = measure(source, character, notes);
  jsonAnswer().update(toJson(r));
  tell("{}\n", toText(r));
  if (options.joints) tell("\n{}", jointTree(character.skeleton));
  return {};
}

}  // namespace

void addInfoVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<InfoOptions>();
  CLI::App* verb = app.add_subcommand("info", "what is in a file, and what was assumed about it");
  options->input.addTo(*verb, "INPUT");
  verb->get_option("INPUT")->description(
      "a character or mesh file, cast:NAME, or a recipe (.toml)");
  verb->add_flag("--joints", options->joints, "the names of all joints, as a tree");
  CLI::Option* motion =
      verb->add_option("--motion", options->motion,
                       "which joints the motion of this file would move, and which not");
  verb->add_option("--map", options->map, "table of joint names for --motion")->needs(motion);
  verb->footer("examples:\n  derm info walk.glb --json\n  derm info body.glb --motion walk.bvh");
  verb->callback([&run, options] {
    run = [options] {
      Diagnostics notes;
      const Result<void> done = runInfo(*options, notes);
      return done ? finish({}) : report(done.error());  // the report has the notes
    };
  });
}

}  // namespace derm::cli
