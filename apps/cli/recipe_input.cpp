#include "recipe_input.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "derm/io/file_ending.h"

#include "output_checks.h"
#include "verbs.h"

namespace derm::cli {

namespace {

/// A body's motion beside a recipe's face: one clip, which the scene puts together.
void playWithFace(const MotionInput& motion, Recipe& recipe) {
  const auto fromAnywhere = [](const std::string& file) {
    return file.empty() || file.starts_with("cast:") ? file
                                                     : std::filesystem::absolute(file).string();
  };
  recipe.motion = fromAnywhere(motion.file);
  recipe.motion_map = fromAnywhere(motion.map);
  recipe.ground = motion.ground;
  recipe.arms_out = motion.arms_out;
  recipe.clip = ClipChoice();
  recipe.origin.options["motion"] = "--motion";
}

}  // namespace

bool isRecipe(const std::string& source) { return fileEnding(source) == ".toml"; }

Result<void> takeCharacter(SceneSource& source, Diagnostics& notes) {
  if (source.options.character != nullptr) return {};
  const auto folder = std::filesystem::path(source.recipe.origin.file).parent_path();
  DERM_TRY(Character character,
           openCharacter(source.recipe.character, folder, source.options.import, notes));
  source.options.character = std::make_shared<const Character>(std::move(character));
  return {};
}

void RecipeInput::addTo(CLI::App& verb, Clips how_many) {
  input.addTo(verb, "INPUT");
  verb.get_option("INPUT")->description("a recipe (.toml), a character file, or cast:NAME");
  verb.add_option("--recipe", recipe, "a recipe for the character given");
  if (how_many == Clips::One)
    // An optional of its own would take "" for nothing at all.
    verb.add_option_function<std::string>(
        "--clip", [this](const std::string& given) { clip = given; },
        "name or number; \"\" is the rest pose; default the recipe's, or the first");
  else
    verb.add_option("--clip", clips,
                    "name or number, or all; \"\" is the rest pose; default the recipe's, or the "
                    "first; may be given again for correctives of several clips")
        ->allow_extra_args(false)
        ->type_name("CLIP");
  verb.add_option("--method", method, "skinning method, instead of the recipe's");
  verb.add_option("--fps", fps, "[Hz] of what comes out, instead of the recipe's")
      ->check(within(Recipe::kMinFps, Recipe::kMaxFps));
  verb.add_option("--range", range_s, "[s] first and last instant, instead of the recipe's")
      ->expected(2)
      ->type_name("FROM TO");
  motion.addTo(verb);
}

Result<SceneSource> RecipeInput::load(Diagnostics& notes, const Recipe& bare) const {
  SceneSource out;
  if (isRecipe(input.source)) {
    if (!recipe.empty())
      return Error{
          ErrorCode::BadArgument, "two recipes: the input is one itself", {.file = recipe}};
    DERM_TRY(out.recipe, loadRecipe(input.source));
    DERM_TRY(out.options.import.metres_per_unit, input.scale());
    if (!out.options.import.metres_per_unit)
      out.options.import.metres_per_unit = out.recipe.metres_per_unit;
  } else {
    out.recipe = bare;
    if (!recipe.empty()) {
      DERM_TRY(out.recipe, loadRecipe(recipe));
    }
    DERM_TRY(Character character, input.load(notes, out.recipe.metres_per_unit));
    out.recipe.character = input.source;
    out.options.character = std::make_shared<const Character>(std::move(character));
  }
  if (!motion.file.empty() && !out.recipe.face.motions.empty()) {
    playWithFace(motion, out.recipe);
  } else if (!motion.file.empty()) {
    DERM_CHECK(takeCharacter(out, notes));
    Character moved = *out.options.character;
    DERM_CHECK(motion.applyTo(moved, notes));
    out.recipe.motion.clear();
    out.recipe.motion_map.clear();
    out.recipe.ground = false;
    out.recipe.clip = static_cast<std::int64_t>(moved.clips.size() - 1);
    out.options.character = std::make_shared<const Character>(std::move(moved));
  }
  auto& given = out.recipe.origin.options;
  if (clip) {
    out.recipe.clip = *clip;
    given["clip"] = "--clip";
  }
  if (restPose()) out.recipe.clip = "";
  if (!clips.empty()) given["clip"] = "--clip";
  if (!method.empty()) {
    DERM_TRY(out.recipe.skinning, parseSkinningMethod(method));
  }
  if (fps) {
    out.recipe.fps = *fps;
    given["fps"] = "--fps";
  }
  if (!range_s.empty()) {
    out.recipe.range_s = std::array{range_s[0], range_s[1]};
    given["range_s"] = "--range";
  }
  return out;
}

Result<void> checkNotNamedBy(const Recipe& recipe, std::initializer_list<std::string> outputs) {
  const std::filesystem::path folder = std::filesystem::path(recipe.origin.file).parent_path();
  std::vector<std::string> names = filesBesideCharacter(recipe);
  if (!recipe.character.starts_with("cast:")) names.push_back(recipe.character);
  for (const std::string& name : names)
    DERM_CHECK(checkNotAnInput(outputs, {(folder / name).string()}));
  return {};
}

void noteTime(double time_s, const Scene& scene, Diagnostics& notes) {
  const PlaybackDesc& range = scene.playback().desc();
  if (range.loop || (time_s >= range.start_s && time_s <= range.end_s)) return;
  notes.warn("time-outside-range", scene.clip() != nullptr ? scene.clip()->name : "rest pose",
             fmt::format("{:g} s is outside the range ({:g} to {:g} s): its end is shown", time_s,
                         range.start_s, range.end_s));
}

void noteNothingAdded(const Recipe& recipe, Diagnostics& notes) {
  const bool layers = std::any_of(recipe.layers.begin(), recipe.layers.end(),
                                  [](const RecipeLayer& layer) { return layer.enabled; });
  if (!layers && recipe.skinning == SkinningMethod::Linear)
    notes.warn("nothing-added", recipe.origin.file.empty() ? recipe.character : recipe.origin.file,
               "adds no layer and no other method to linear skinning: there is nothing to show");
}

}  // namespace derm::cli
