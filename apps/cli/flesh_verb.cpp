#include <filesystem>

#include <fmt/format.h>

#include "derm/deform/flesh_auto.h"
#include "derm/io/whole_file.h"
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

/// The character as the recipe names it: relative to the recipe's own folder.
std::string sourceFor(const std::string& source, const std::filesystem::path& recipe) {
  if (source.starts_with("cast:")) return source;
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::absolute(recipe).parent_path();
  const std::filesystem::path near = std::filesystem::proximate(source, folder, failed);
  return failed ? std::filesystem::absolute(source).generic_string() : near.generic_string();
}

Result<void> writeProposal(const FleshAutoOptions& options, Diagnostics& notes) {
  DERM_TRY(const Character character, options.input.load(notes));
  Recipe recipe{.character = sourceFor(options.input.source, options.output)};
  if (!options.clip.empty()) {
    DERM_TRY(const std::size_t clip, character.findClip(options.clip));
    recipe.clip = character.clips[clip].name;
  }
  DERM_TRY(const std::vector<FleshProposal> found, proposeFlesh(character, notes));
  for (const FleshProposal& p : found)
    recipe.layers.push_back(fleshRecipeLayer(p.desc, character.skeleton));
  DERM_TRY(WholeFile file, WholeFile::create(options.output));
  DERM_CHECK(file.append(writeRecipe(recipe)));
  DERM_CHECK(file.commit());
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
  automatic->callback([&run, options] {
    run = [options] {
      Diagnostics notes;
      const Result<void> done = writeProposal(*options, notes);
      if (!done) return report(done.error());
      printWarnings(notes);
      return kDone;
    };
  });
}

}  // namespace derm::cli
