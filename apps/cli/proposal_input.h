#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/scene/recipe.h"
#include "derm/scene/stack_proposal.h"

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
  bool add = false;

  void addTo(CLI::App& verb);
  bool printsRecipe() const { return output == "-"; }
  Result<ProposalSource> load(Diagnostics& notes) const;
  /// Writes the recipe with these layers, or (--add) puts those that it lacks into the recipe that
  /// is there. A file that is there and is not what `command` ("derm auto") itself wrote, to the
  /// last character, is replaced by --force alone.
  Result<void> save(const Recipe& recipe, std::span<const ProposedLayer> layers,
                    std::string_view command, Diagnostics& notes) const;
};

}  // namespace derm::cli
