#include "derm/scene/stack_proposal.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "derm/base/number_text.h"
#include "derm/scene/flesh_recipe.h"
#include "derm/scene/wrinkle_recipe.h"

namespace derm {
namespace {

/// Kinds in the order in which they must work, after skinning.
constexpr std::array<std::string_view, 4> kOrder = {"flesh", "contact", "volume", "wrinkles"};
/// Of these one is enough.
constexpr std::array<std::string_view, 2> kSingle = {"contact", "volume"};

std::size_t rankOf(std::string_view type) {
  return static_cast<std::size_t>(std::find(kOrder.begin(), kOrder.end(), type) - kOrder.begin());
}

std::string_view descriptionOf(FleshRegion region) {
  switch (region) {
    case FleshRegion::Limb:
      return "Flesh of a limb";
    case FleshRegion::Belly:
      return "Flesh of the belly";
    case FleshRegion::Cheeks:
      return "Cheeks";
    case FleshRegion::Breast:
      return "A breast";
    case FleshRegion::Buttock:
      return "A buttock";
  }
  return "";
}

ProposedLayer plainLayer(std::string_view type, std::string comment) {
  return {
      .layer = {.type = std::string(type), .name = std::string(type), .keys = {}, .location = {}},
      .comment = std::move(comment)};
}

/// Skin that two joints share: only such skin bends.
bool bends(const Character& character) {
  for (std::size_t v = 0; v < character.skin.vertexCount(); ++v)
    if (character.skin[v].size() > 1) return true;
  return false;
}

}  // namespace

ProposedLayer proposedLayer(const FleshProposal& proposal, const Skeleton& skeleton) {
  return {.layer = fleshRecipeLayer(proposal.desc, skeleton),
          .comment = std::string(descriptionOf(proposal.region)) + ", " +
                     fixedNumber(100 * proposal.thickness_m, 1) +
                     " cm deep: a lower frequency_hz is softer."};
}

ProposedLayer proposedLayer(const WrinkleProposal& proposal) {
  return {.layer = wrinkleRecipeLayer(proposal.tool),
          .comment = "Folds at " + proposal.joint + ": skin squeezed by " +
                     fixedNumber(100 * proposal.squeeze, 0) + " % at " +
                     fixedNumber(proposal.time_s, 2) + " s; h_max_m is their height."};
}

Result<StackProposal> proposeStack(const Character& character, const Clip* clip,
                                   const WrinkleProposalDesc& folds, Diagnostics& notes,
                                   const Progress& progress, const LayerTypes& types) {
  StackProposal out;
  DERM_TRY(const std::vector<FleshProposal> flesh, proposeFlesh(character, notes));
  for (const FleshProposal& p : flesh) out.layers.push_back(proposedLayer(p, character.skeleton));
  if (bends(character)) {
    if (types.find("contact") != nullptr)
      out.layers.push_back(plainLayer("contact", "Keeps skin out of skin."));
    out.layers.push_back(plainLayer("volume", "Gives bent joints the volume that skinning loses."));
  }
  if (clip == nullptr) {
    notes.info("no-clip", character.name, "no clip to find folds by");
  } else if (bends(character)) {
    DERM_TRY(const std::vector<WrinkleProposal> found,
             proposeWrinkles(character, *clip, folds, progress));
    for (const WrinkleProposal& p : found) out.layers.push_back(proposedLayer(p));
  }
  return out;
}

std::vector<std::string> addProposed(Recipe& recipe, std::span<const ProposedLayer> layers) {
  std::vector<std::string> left_out;
  for (const ProposedLayer& proposed : layers) {
    const RecipeLayer& layer = proposed.layer;
    const bool is_single = std::find(kSingle.begin(), kSingle.end(), layer.type) != kSingle.end();
    const bool is_there =
        std::any_of(recipe.layers.begin(), recipe.layers.end(), [&](const RecipeLayer& other) {
          return other.name == layer.name || (is_single && other.type == layer.type);
        });
    if (is_there) {
      left_out.push_back(layer.name);
      continue;
    }
    // Behind the last that must work before it, or that shapes the rest surface.
    auto at = recipe.layers.end();
    while (at != recipe.layers.begin() && !std::prev(at)->before_skinning &&
           rankOf(std::prev(at)->type) > rankOf(layer.type))
      --at;
    recipe.layers.insert(at, layer);
  }
  return left_out;
}

Result<std::string> withComments(std::string_view text, std::span<const ProposedLayer> layers,
                                 const LayerTypes& types) {
  DERM_TRY(const Recipe recipe, parseRecipe(text, {}, types));
  std::map<std::size_t, std::string_view> comment_of_line;  // counted from 1
  std::map<std::size_t, int> layers_on_line;
  for (const RecipeLayer& layer : recipe.layers) ++layers_on_line[layer.location.line];
  for (const RecipeLayer& layer : recipe.layers)
    for (const ProposedLayer& proposed : layers)
      if (proposed.layer.name == layer.name && !proposed.comment.empty() &&
          layer.location.line > 0 && layers_on_line[layer.location.line] == 1)
        comment_of_line[layer.location.line] = proposed.comment;
  const std::string_view end = text.find("\r\n") != std::string_view::npos ? "\r\n" : "\n";
  std::string out;
  for (std::size_t line = 1; !text.empty(); ++line) {
    if (const auto found = comment_of_line.find(line); found != comment_of_line.end())
      out.append("# ").append(found->second).append(end);
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    out += text.substr(0, length);
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace derm
