#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/scene/recipe.h"

#include "character_input.h"

namespace derm::cli {

/// A character in motion, and the recipe that opens it so, still without layers.
struct ProposalSource {
  Character character;
  std::optional<std::size_t> clip;  ///< the one that is meant; absent: the character has none
  Recipe recipe;
};

/// What verbs that propose layers share: a character, its clip or a motion for it, and the recipe
/// to be written.
struct ProposalInput {
  CharacterInput input;
  MotionInput motion;
  std::string clip;
  std::string output;

  void addTo(CLI::App& verb);
  Result<ProposalSource> load(Diagnostics& notes) const;
};

}  // namespace derm::cli
