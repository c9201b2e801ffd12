#include "character_input.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "derm/base/nearest_name.h"
#include "derm/base/utf8.h"
#include "derm/scene/motion.h"
#include "derm/scene/scene.h"

#include "terminal.h"

namespace derm::cli {
namespace {

struct Unit {
  std::string_view name;
  double metres;
};
constexpr Unit kUnits[] = {{"m", 1},      {"dm", 0.1},    {"cm", 0.01},
                           {"mm", 0.001}, {"in", 0.0254}, {"ft", 0.3048}};

}  // namespace

Result<double> metresPerUnit(const std::string& unit) {
  for (const Unit& u : kUnits)
    if (u.name == unit) return u.metres;
  double metres = 0;
  const char* end = unit.data() + unit.size();
  const auto [stop, failure] = std::from_chars(unit.data(), end, metres);
  if (failure == std::errc{} && stop == end && std::isfinite(metres) && metres > 0) return metres;
  return Error{ErrorCode::BadArgument,
               "unit \"" + unit + "\": m, dm, cm, mm, in, ft or a number of metres is expected",
               {}};
}

void CharacterInput::addTo(CLI::App& verb, const std::string& name) {
  verb.add_option(name, source, "a character or mesh file, or cast:NAME")->required();
  verb.add_option("--unit", unit, "length of one file unit: m, dm, cm, mm, in, ft or metres");
}

Result<std::optional<double>> CharacterInput::scale() const {
  if (unit.empty()) return std::optional<double>();
  DERM_TRY(const double metres, metresPerUnit(unit));
  return std::optional<double>(metres);
}

Result<Character> CharacterInput::load(Diagnostics& notes,
                                       std::optional<double> recipe_scale) const {
  ImportOptions options;
  DERM_TRY(options.metres_per_unit, scale());
  if (!options.metres_per_unit) options.metres_per_unit = recipe_scale;
  return openCharacter(source, {}, options, notes);
}

std::string fromFolderOf(const std::filesystem::path& recipe, const std::string& source) {
  if (source.empty() || source.starts_with("cast:")) return source;
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::absolute(recipe).parent_path();
  const std::filesystem::path near = std::filesystem::proximate(source, folder, failed);
  return failed ? std::filesystem::absolute(source).generic_string() : near.generic_string();
}

Result<void> checkRecipeCanName(const std::string& file) {
  if (isUtf8(file)) return {};
  return Error{ErrorCode::BadArgument,
               "its name or folder is not UTF-8, and a recipe cannot name it; rename it",
               {.file = file}};
}

void MotionInput::addTo(CLI::App& verb) {
  CLI::Option* motion = verb.add_option(
      "--motion", file, "take the motion of this file (BVH, glTF …) by joint names");
  verb.add_option("--map", map, "table of joint names for --motion: lines \"source = target\"")
      ->needs(motion);
  verb.add_flag("--ground", ground,
                "with --motion: the lowest limb stays on the floor, and does not slide")
      ->needs(motion);
  verb.add_flag("--arms-out,!--no-arms-out", arms_out,
                "with --motion: arms that it sinks into the body are turned out (default)")
      ->needs(motion);
}

Result<void> MotionInput::applyTo(Character& character, Diagnostics& notes) const {
  if (file.empty()) return {};
  ProgressBar bar("motion");
  return addMotion(file, map, {}, character, notes,
                   {.ground = ground, .arms_out = arms_out, .progress = bar.callback()});
}

}  // namespace derm::cli
