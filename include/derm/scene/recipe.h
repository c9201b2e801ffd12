#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "derm/base/result.h"
#include "derm/deform/playback.h"
#include "derm/deform/skinning.h"
#include "derm/scene/face_motion_input.h"
#include "derm/scene/layer_types.h"
#include "derm/scene/recipe_value.h"

namespace derm {

/// A layer as a recipe lists it. Its own keys are kept as values: LayerParameters gives them types.
struct RecipeLayer {
  std::string type = {};
  std::string name = {};  ///< unique in a recipe
  bool enabled = true;
  bool before_skinning = false;  ///< it shapes the rest surface, in the bind pose
  RecipeValue::Table keys;
  SourceLocation location;  ///< of its [[layer]]; not compared

  bool operator==(const RecipeLayer& other) const {
    return type == other.type && name == other.name && enabled == other.enabled &&
           before_skinning == other.before_skinning && sameKeys(keys, other.keys);
  }
};

/// Where a recipe was read from, for messages and relative paths.
struct RecipeOrigin {
  std::string file = {};                                           ///< empty: it was not read
  std::map<std::string, SourceLocation, std::less<>> values = {};  ///< of the top level's keys
  /// Keys that something else gave instead (options of a command line), and their names there.
  std::map<std::string, std::string, std::less<>> options = {};
};

/// Which clip: none given (the motion's, or the first), by name (or its number as text; empty = the
/// rest pose), by number from 0.
using ClipChoice = std::variant<std::monostate, std::string, std::int64_t>;

/// Motions of other faces that the character's face plays (see addFaceMotion()).
struct RecipeFace {
  std::vector<FaceMotionChoice> motions = {};  ///< paths as Recipe::character
  RbfKernel kernel = RbfKernel::Biharmonic;
  double amplitude = FaceRetargetDesc{}.amplitude;  ///< [0,1]
  bool head = true;                                 ///< the head moves too

  bool operator==(const RecipeFace&) const = default;
};

/// What to make of a character: plain and editable, saved as TOML. Equal recipes give equal frames.
struct Recipe {
  static constexpr double kMinFps = 0.001;
  static constexpr double kMaxFps = 1000;
  static constexpr double kMaxPreroll_s = 3600;
  static constexpr double kMaxMetresPerUnit = 1e9;  ///< the minimum is 1 by this
  static constexpr std::size_t kMaxLayers = 1000;
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;  ///< of a recipe's text

  std::string character = {};  ///< "cast:NAME", or a path relative to the recipe's file
  /// [m] of one unit of the character's file, where the file itself is not believed; lengths of
  /// layers are metres and fit only that.
  std::optional<double> metres_per_unit = {};
  /// A file whose motion the character takes by joint names (see addMotion()), named like
  /// `character`, and a table of such names. The motion is the last clip, and the default one.
  std::string motion = {};
  std::string motion_map = {};
  bool ground = false;   ///< the motion is put on the floor (see groundMotion())
  bool arms_out = true;  ///< arms that the motion sinks into the body are turned out of it
  /// What the face plays is the last clip and the default one; with a motion, part of that.
  RecipeFace face = {};
  ClipChoice clip;
  double fps = 60;                                    ///< [Hz] of what comes out
  std::optional<std::array<double, 2>> range_s = {};  ///< [s] of the clip; absent = all of it
  double preroll_s = 0;                               ///< [s] simulated before the first frame
  bool loop = false;
  SkinningMethod skinning = SkinningMethod::Linear;
  double skinning_alpha = 0.5;                   ///< [0,1] of the centre method, see SkinningDesc
  TwistRule twist_spread = TwistRule::Forearms;  ///< of the centre method
  SeekRule seek = SeekRule::Replay;
  double inner_rate_hz = 240;             ///< [Hz] fixed step of stateful layers
  std::optional<double> teleport_m = {};  ///< [m] see PlaybackDesc
  /// Controls of the character, by name, that have this value whatever the clip says.
  std::vector<std::pair<std::string, double>> controls = {};
  std::vector<RecipeLayer> layers = {};  ///< those before skinning and those after it, in order

  RecipeOrigin origin;  ///< not compared

  bool operator==(const Recipe& other) const;
  /// The file, the key, and the location of its value where that was read; or the option.
  Where where(std::string_view key) const;
};

/// Reads a recipe from memory. Every key is checked here, those of layers too; what needs the
/// character (clip, joints, groups) is checked by openScene(). Errors give line, column, the key,
/// what was expected and the nearest valid name. Layers without a name get their type's, with a
/// number where there are several. Limits: kMaxBytes, kMaxLayers.
Result<Recipe> parseRecipe(std::string_view text, std::string_view name,
                           const LayerTypes& types = builtInLayerTypes());
Result<Recipe> loadRecipe(const std::filesystem::path& file,
                          const LayerTypes& types = builtInLayerTypes());

/// Files that a recipe names beside its character, as it names them: motions, tables of names, what
/// enabled layers read. What is of the cast is no file.
std::vector<std::string> filesBesideCharacter(const Recipe& recipe,
                                              const LayerTypes& types = builtInLayerTypes());

/// The recipe as TOML, keys at their defaults left out; parseRecipe() gives an equal recipe back.
/// For a recipe that people have written in, see editRecipe() (recipe_text.h).
std::string writeRecipe(const Recipe& recipe);

}  // namespace derm
