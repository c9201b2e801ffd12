#include <fmt/format.h>

#include "derm/deform/flesh_auto.h"
#include "derm/scene/stack_proposal.h"

#include "proposal_input.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

Result<void> writeProposal(const ProposalInput& input, Diagnostics& notes) {
  DERM_TRY(const ProposalSource source, input.load(notes));
  DERM_TRY(const std::vector<FleshProposal> found, proposeFlesh(source.character, notes));
  std::vector<ProposedLayer> layers;
  for (const FleshProposal& p : found)
    layers.push_back(proposedLayer(p, source.character.skeleton));
  DERM_CHECK(input.save(source.recipe, layers, "derm flesh auto", notes));
  if (input.printsRecipe()) return {};
  jsonAnswer()["recipe"] = input.output;
  for (const FleshProposal& p : found) {
    jsonAnswer()["elements"].push_back({{"name", p.desc.name},
                                        {"region", nameOf(p.region)},
                                        {"length_m", p.length_m},
                                        {"thickness_m", p.thickness_m},
                                        {"frequency_hz", *p.desc.frequency_hz}});
    say("{:<24} {:<7} {:.3f} m long, {:.3f} m of flesh, {:.1f} Hz\n", p.desc.name, nameOf(p.region),
        p.length_m, p.thickness_m, *p.desc.frequency_hz);
  }
  return {};
}

}  // namespace

void addFleshVerb(CLI::App& app, Run& run) {
  CLI::App* verb = app.add_subcommand("flesh", "flesh that lags and swings");
  verb->require_subcommand(1);
  verb->footer("example:\n  derm flesh auto body.glb -o body.toml");
  CLI::App* automatic = verb->add_subcommand("auto", "propose flesh elements for a character");
  const auto input = std::make_shared<ProposalInput>();
  input->addTo(*automatic);
  automatic->fallthrough();  // --threads belongs to the verb
  automatic->footer("example:\n  derm flesh auto body.glb -o body.toml");
  setWork(*automatic, run, input, writeProposal);
}

}  // namespace derm::cli
