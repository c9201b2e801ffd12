#include "proposal_input.h"

#include <filesystem>

namespace derm::cli {
namespace {

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
  verb.add_option("-o,--output", output, "the recipe, .toml")->required();
}

Result<ProposalSource> ProposalInput::load(Diagnostics& notes) const {
  if (std::filesystem::path(output).extension() != ".toml")
    return Error{ErrorCode::BadArgument, "recipes are written as .toml", {.file = output}};
  ProposalSource out;
  DERM_TRY(out.character, input.load(notes));
  DERM_CHECK(motion.applyTo(out.character, notes));
  out.recipe.character = fromFolderOf(output, input.source);
  DERM_TRY(out.recipe.metres_per_unit, input.scale());
  out.recipe.motion = fromFolderOf(output, motion.file);
  out.recipe.motion_map = fromFolderOf(output, motion.map);
  out.recipe.ground = motion.ground;
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

}  // namespace derm::cli
