#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/anim/clip.h"
#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/deform/flesh_auto.h"
#include "derm/deform/wrinkle_proposal.h"
#include "derm/scene/recipe.h"

namespace derm {

/// A layer that derm proposes, with a line for people that says what it is for.
struct ProposedLayer {
  RecipeLayer layer;
  std::string comment = {};  ///< one line, without "#"
};

ProposedLayer proposedLayer(const FleshProposal& proposal, const Skeleton& skeleton);
ProposedLayer proposedLayer(const WrinkleProposal& proposal);

/// What derm makes of a character that nobody has looked at yet.
struct StackProposal {
  SkinningMethod skinning = SkinningMethod::Centre;
  std::vector<ProposedLayer> layers = {};  ///< in the order in which they work
};

/// Flesh by the character's shape, self-contact, volume, and folds where the clip squeezes skin
/// (none without a clip), in this order: contact must see the flesh where it is, volume gives back
/// what contact took, folds lie on the final surface. Layers that the character has no use for are
/// left out. Fails on characters without skin weights. Cost: that of proposeWrinkles().
Result<StackProposal> proposeStack(const Character& character, const Clip* clip,
                                   const WrinkleProposalDesc& folds, Diagnostics& notes,
                                   const Progress& progress = {},
                                   const LayerTypes& types = builtInLayerTypes());

/// Puts layers into a recipe, each behind those that must work before it. What the recipe has
/// already is its author's: a layer of a name that is taken, and a second contact or volume layer,
/// are left out. Returns the names of those left out.
std::vector<std::string> addProposed(Recipe& recipe, std::span<const ProposedLayer> layers);

/// A recipe's text with each layer's comment above it, where the text has such a layer on a line of
/// its own. Comments and everything else in the text stay. Fails where the text is no recipe.
Result<std::string> withComments(std::string_view text, std::span<const ProposedLayer> layers,
                                 const LayerTypes& types = builtInLayerTypes());

}  // namespace derm
