#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/io/import_options.h"

namespace derm::cli {

/// The "CHARACTER" argument that verbs share: a file, or "cast:NAME"; and how to read it.
struct CharacterInput {
  std::string source;
  std::string unit;  ///< empty = as the file says

  /// Adds the positional argument and --unit.
  void addTo(CLI::App& verb, const std::string& name = "CHARACTER");
  /// `recipe_scale` [m] of one unit counts where --unit was not given.
  Result<Character> load(Diagnostics& notes, std::optional<double> recipe_scale = {}) const;
  /// What --unit says.
  Result<std::optional<double>> scale() const;
};

/// A file (or cast:NAME, or nothing) as a recipe must name it: relative to the recipe's folder.
std::string fromFolderOf(const std::filesystem::path& recipe, const std::string& source);

/// Recipes are UTF-8, and file names may be any bytes: fails where this name is no text.
Result<void> checkRecipeCanName(const std::string& file);

/// "m", "cm", "mm", "dm", "in", "ft" or a number of metres.
Result<double> metresPerUnit(const std::string& unit);

/// The motion of another file, for a character to take (see scene/motion.h).
struct MotionInput {
  std::string file;      ///< BVH or any character file with a clip; empty = none
  std::string map;       ///< table of joint names, "source = target" lines; empty = automatic
  bool ground = false;   ///< its lowest limb stays on the floor
  bool arms_out = true;  ///< arms that it sinks into the body are turned out

  void addTo(CLI::App& verb);
  /// Adds the motion, if any, as the last clip.
  Result<void> applyTo(Character& character, Diagnostics& notes) const;
};

}  // namespace derm::cli
