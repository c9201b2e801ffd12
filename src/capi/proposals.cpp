#include "capi/proposals.h"

#include <algorithm>
#include <array>
#include <vector>

#include "derm/scene/recipe_text.h"
#include "derm/scene/stack_proposal.h"

namespace derm::detail::capi {
namespace {

constexpr std::array<std::string_view, 4> kKinds = {"flesh", "contact", "volume", "wrinkles"};

/// The layers of one kind, or of all.
Result<std::vector<ProposedLayer>> layersFor(const Session& session, std::string_view what) {
  const bool all = what == "all";
  const Clip* clip = session.scene().clip();
  if (what == "wrinkles" && clip == nullptr)
    return Error{ErrorCode::BadArgument, "no clip plays, so no skin is squeezed", {}};
  Diagnostics notes;
  // Folds cost a run through the clip: only where they are wanted.
  DERM_TRY(
      StackProposal stack,
      proposeStack(session.character(), all || what == "wrinkles" ? clip : nullptr, {}, notes));
  if (!all)
    std::erase_if(stack.layers, [&](const ProposedLayer& p) { return p.layer.type != what; });
  return std::move(stack.layers);
}

}  // namespace

Result<std::string> proposeText(const Session& session, std::string_view what) {
  if (what != "all" && std::find(kKinds.begin(), kKinds.end(), what) == kKinds.end())
    return Error{ErrorCode::BadArgument,
                 "propose \"flesh\", \"contact\", \"volume\", \"wrinkles\" or \"all\", not \"" +
                     std::string(what) + "\"",
                 {}};
  if (!session.character().hasSkin())
    return Error{ErrorCode::BadData, "has no skin weights", {.file = session.character().name}};
  DERM_TRY(const std::vector<ProposedLayer> layers, layersFor(session, what));
  Recipe recipe = session.scene().recipe();
  if (what == "volume" || what == "all") recipe.skinning = StackProposal{}.skinning;
  const std::vector<std::string> kept = addProposed(recipe, layers);
  DERM_TRY(const std::string text, editRecipe(session.text(), recipe));
  std::vector<ProposedLayer> added;
  for (const ProposedLayer& p : layers)
    if (std::find(kept.begin(), kept.end(), p.layer.name) == kept.end()) added.push_back(p);
  return withComments(text, added);
}

}  // namespace derm::detail::capi
