#include <fmt/format.h>

#include "derm/deform/flesh_auto.h"
#include "derm/io/file_bytes.h"
#include "derm/scene/flesh_recipe.h"
#include "derm/scene/recipe.h"

#include "character_input.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

struct FleshAutoOptions {
  CharacterInput input;
  std::string clip;
  std::string output;
};

Result<void> writeProposal(const FleshAutoOptions& options, Diagnostics& notes) {
  DERM_TRY(const Character character, options.input.load(notes));
  Recipe recipe{.character = options.input.sourceFrom(options.output)};
  DERM_TRY(recipe.metres_per_unit, options.input.scale());
  if (!options.clip.empty()) {
    DERM_TRY(const std::size_t clip, character.findClip(options.clip));
    recipe.clip = character.clips[clip].name;
  }
  DERM_TRY(const std::vector<FleshProposal> found, proposeFlesh(character, notes));
  for (const FleshProposal& p : found)
    recipe.layers.push_back(fleshRecipeLayer(p.desc, character.skeleton));
  DERM_CHECK(writeFileWhole(options.output, writeRecipe(recipe)));
  for (const FleshProposal& p : found)
    fmt::print("{:<24} {:<7} {:.3f} m long, {:.3f} m of flesh, {:.1f} Hz\n", p.desc.name,
               nameOf(p.region), p.length_m, p.thickness_m, *p.desc.frequency_hz);
  return {};
}

}  // namespace

void addFleshVerb(CLI::App& app, Run& run) {
  CLI::App* verb = app.add_subcommand("flesh", "flesh that lags and swings");
  verb->require_subcommand(1);
  verb->footer("example:\n  derm flesh auto body.glb -o body.toml");
  CLI::App* automatic = verb->add_subcommand("auto", "propose flesh elements for a character");
  const auto options = std::make_shared<FleshAutoOptions>();
  options->input.addTo(*automatic);
  automatic->add_option("--clip", options->clip,
                        "name or number for the recipe; default the first");
  automatic->add_option("-o,--output", options->output, "recipe, .toml")->required();
  automatic->fallthrough();  // --threads belongs to the verb
  automatic->footer("example:\n  derm flesh auto body.glb -o body.toml");
  setWork(*automatic, run, options, writeProposal);
}

}  // namespace derm::cli
