#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/scene/recipe.h"
#include "derm/scene/scene.h"

#include "character_input.h"

namespace derm::cli {

/// A recipe and, where it is not the recipe's own, the character it is for.
struct SceneSource {
  Recipe recipe;
  SceneOptions options;
};

/// The "RECIPE|CHARACTER" argument that verbs share: a recipe (.toml), or a character (a file or
/// cast:NAME) with --recipe or without; and what on the command line goes before the recipe's keys.
struct RecipeInput {
  CharacterInput input;
  MotionInput motion;
  std::string recipe;
  std::optional<std::string> clip;  ///< as given; empty = the rest pose, as in a recipe
  std::vector<std::string> clips;   ///< of verbs that take several
  std::string method;
  std::optional<double> fps;
  std::vector<double> range_s;

  /// Several: --clip may be given again, for `clips`, which are not put into the recipe.
  enum class Clips { One, Several };
  void addTo(CLI::App& verb, Clips how_many = Clips::One);
  /// Whether `clips` asks for the rest pose alone: --clip "".
  bool restPose() const { return clips.size() == 1 && clips.front().empty(); }
  /// `bare` is the recipe of a character that comes without one.
  Result<SceneSource> load(Diagnostics& notes, const Recipe& bare = {}) const;
};

/// Opens the character that the recipe names, where none was given: for what changes it.
Result<void> takeCharacter(SceneSource& source, Diagnostics& notes);

/// Whether an input is a recipe, by its ending.
bool isRecipe(const std::string& source);

/// No output is a file that the recipe names: it would be lost (see checkNotAnInput()).
Result<void> checkNotNamedBy(const Recipe& recipe, std::initializer_list<std::string> outputs);

/// Notes that an instant lies outside the range, whose end is then shown.
void noteTime(double time_s, const Scene& scene, Diagnostics& notes);

/// Notes that a recipe adds nothing to linear skinning, for verbs that show or keep what it adds.
void noteNothingAdded(const Recipe& recipe, Diagnostics& notes);

}  // namespace derm::cli
