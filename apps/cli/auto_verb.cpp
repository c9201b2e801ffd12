#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/scene/stack_proposal.h"

#include "proposal_input.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

struct AutoOptions {
  ProposalInput input;
  WrinkleProposalDesc folds;
};

Result<StackProposal> proposalFor(const AutoOptions& options, const ProposalSource& source,
                                  Diagnostics& notes) {
  ProgressBar bar("measuring");
  const Clip* clip = source.clip ? &source.character.clips[*source.clip] : nullptr;
  return proposeStack(source.character, clip, options.folds, notes, bar.callback());
}

void printLayers(const AutoOptions& options, const StackProposal& stack) {
  nlohmann::json list = nlohmann::json::array();
  for (const ProposedLayer& p : stack.layers) {
    list.push_back({{"type", p.layer.type}, {"name", p.layer.name}, {"comment", p.comment}});
    say("{:<9} {:<24} {}\n", p.layer.type, p.layer.name, p.comment);
  }
  if (stack.layers.empty()) say("nothing to propose: no skin of this character bends\n");
  jsonAnswer()["recipe"] = options.input.output;
  jsonAnswer()["layers"] = std::move(list);
}

Result<void> writeLook(const AutoOptions& options, Diagnostics& notes) {
  DERM_TRY(ProposalSource source, options.input.load(notes));
  DERM_TRY(const StackProposal stack, proposalFor(options, source, notes));
  source.recipe.skinning = stack.skinning;
  DERM_CHECK(options.input.save(source.recipe, stack.layers, "derm auto", notes));
  if (!options.input.printsRecipe()) printLayers(options, stack);
  return {};
}

}  // namespace

void addAutoVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<AutoOptions>();
  CLI::App* verb =
      app.add_subcommand("auto", "a whole recipe for a character: flesh, contact, volume, folds");
  options->input.addTo(*verb);
  verb->add_option("--min-squeeze", options->folds.min_squeeze,
                   "folds: smallest squeeze worth one, of 1; the other side of a body follows")
      ->check(within(0.01, 0.59))
      ->capture_default_str();
  verb->add_option("--max-folds", options->folds.max_tools, "folds at most")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb->footer(
      "examples:\n"
      "  derm auto body.glb --motion walk.bvh -o body.toml\n"
      "  derm auto body.glb -o body.toml --add   # keeps what is in body.toml");
  setWork(*verb, run, options, writeLook);
}

}  // namespace derm::cli
