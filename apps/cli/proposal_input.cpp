#include "proposal_input.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "derm/base/hash.h"
#include "derm/io/file_bytes.h"
#include "derm/io/file_ending.h"
#include "derm/io/whole_file.h"
#include "derm/scene/recipe_text.h"

#include "output_checks.h"
#include "terminal.h"

namespace derm::cli {
namespace {

/// The first line of a recipe that `command` wrote. While the rest is as it was the command may
/// replace it: nobody's work is lost.
std::string signature(std::string_view command, std::string_view rest) {
  Hash64 hash;
  hash.addBytes(rest.data(), rest.size());
  return fmt::format(
      "# Proposed by `{}` ({:08x}). Edit it freely: derm replaces only what is unchanged.\n",
      command, hash.value() & 0xFFFFFFFFu);
}

bool isUntouched(std::string_view text, std::string_view command) {
  const std::size_t end = text.find('\n');
  return end != std::string_view::npos &&
         text.substr(0, end + 1) == signature(command, text.substr(end + 1));
}

std::optional<std::string> textOf(const std::filesystem::path& file) {
  const auto bytes = readFile(file, Recipe::kMaxBytes);
  if (!bytes) return {};
  return std::string(bytes->begin(), bytes->end());
}

/// Whether two recipes in one folder name the same character.
bool sameCharacter(const std::filesystem::path& file, const std::string& a, const std::string& b) {
  if (a == b) return true;
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  std::error_code differ;
  return std::filesystem::equivalent(folder / a, folder / b, differ);
}

/// A recipe for whatever character is given with it becomes one for this character in its motion.
void makeItFor(const Recipe& own, Recipe& recipe) {
  recipe.character = own.character;
  recipe.metres_per_unit = own.metres_per_unit;
  if (recipe.clip == ClipChoice()) recipe.clip = own.clip;
  if (!recipe.motion.empty()) return;
  recipe.motion = own.motion;
  recipe.motion_map = own.motion_map;
  recipe.ground = own.ground;
  recipe.arms_out = own.arms_out;
}

std::string listed(std::span<const std::string> names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "\"" : ", \"") + name + "\"";
  return out;
}

/// By name where that finds it: names last longer than numbers.
ClipChoice choiceOf(const Character& character, std::size_t clip) {
  const std::string& name = character.clips[clip].name;
  const Result<std::size_t> found = character.findClip(name);
  if (!name.empty() && found && *found == clip) return name;
  return static_cast<std::int64_t>(clip);
}

}  // namespace

void ProposalInput::addTo(CLI::App& verb) {
  input.addTo(verb);
  verb.add_option("--clip", clip, "name or number; default the first (or --motion's)");
  motion.addTo(verb);
  addOutput(verb, output, "the recipe, .toml; - prints it")->required();
  verb.add_flag("--add", add, "put what is missing into the recipe that is there");
}

Result<ProposalSource> ProposalInput::load(Diagnostics& notes) const {
  if (!printsRecipe() && fileEnding(output) != ".toml")
    return Error{ErrorCode::BadArgument, "recipes are written as .toml", {.file = output}};
  DERM_CHECK(checkOutputs({output}));
  DERM_CHECK(checkNotAnInput({output}, {input.source, motion.file, motion.map}));
  ProposalSource out;
  out.recipe.character = fromFolderOf(output, input.source);
  out.recipe.motion = fromFolderOf(output, motion.file);
  out.recipe.motion_map = fromFolderOf(output, motion.map);
  for (const std::string& name : {out.recipe.character, out.recipe.motion, out.recipe.motion_map})
    DERM_CHECK(checkRecipeCanName(name));
  DERM_TRY(out.character, input.load(notes));
  DERM_CHECK(motion.applyTo(out.character, notes));
  DERM_TRY(out.recipe.metres_per_unit, input.scale());
  out.recipe.ground = motion.ground;
  out.recipe.arms_out = motion.arms_out;
  if (!clip.empty()) {
    DERM_TRY(out.clip, out.character.findClip(clip));
  } else if (!out.character.clips.empty()) {
    out.clip = motion.file.empty() ? 0 : out.character.clips.size() - 1;
  }
  // A motion is the recipe's default clip, whatever it is called.
  const bool as_default = clip.empty() && !motion.file.empty();
  if (out.clip && !as_default) out.recipe.clip = choiceOf(out.character, *out.clip);
  return out;
}

Result<void> ProposalInput::save(const Recipe& recipe, std::span<const ProposedLayer> layers,
                                 std::string_view command, Diagnostics& notes) const {
  std::error_code none;
  const bool exists = !printsRecipe() && std::filesystem::exists(output, none);
  if (add && exists) {
    DERM_TRY(Recipe there, loadRecipe(output));
    if (there.character.empty()) makeItFor(recipe, there);
    if (!sameCharacter(output, there.character, recipe.character))
      return Error{ErrorCode::BadArgument,
                   "is a recipe of another character: " + there.character,
                   {.file = output, .element = "character"}};
    const std::vector<std::string> kept = addProposed(there, layers);
    if (!kept.empty())
      notes.warn("layers-kept", output, "has these already, and keeps its own: " + listed(kept));
    const std::optional<std::string> before = textOf(output);
    if (!before) return Error{ErrorCode::CannotRead, "cannot be read again", {.file = output}};
    DERM_TRY(const std::string edited, editRecipe(*before, there));
    std::vector<ProposedLayer> added(layers.begin(), layers.end());
    std::erase_if(added, [&](const ProposedLayer& p) {
      return std::find(kept.begin(), kept.end(), p.layer.name) != kept.end();
    });
    DERM_TRY(const std::string text, withComments(edited, added));
    return writeFileWhole(output, text);
  }
  if (exists && !commonOptions().force)
    if (const std::optional<std::string> before = textOf(output);
        !before || (!before->empty() && !isUntouched(*before, command)))
      return Error{
          ErrorCode::BadArgument,
          fmt::format("exists, and is not what `{}` wrote; --add puts what is missing into "
                      "it, --force replaces it",
                      command),
          {.file = output}};
  Recipe whole = recipe;
  addProposed(whole, layers);
  DERM_TRY(std::string text, withComments(writeRecipe(whole), layers));
  if (printsRecipe()) return writeText(output, text);
  text.insert(0, signature(command, text));
  return writeFileWhole(output, text);
}

}  // namespace derm::cli
