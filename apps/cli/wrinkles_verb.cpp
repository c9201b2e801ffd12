#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/deform/wrinkle_proposal.h"
#include "derm/io/file_ending.h"
#include "derm/io/png.h"
#include "derm/scene/normal_map.h"
#include "derm/scene/stack_proposal.h"

#include "output_checks.h"
#include "proposal_input.h"
#include "recipe_input.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

struct WrinklesAutoOptions {
  ProposalInput input;
  WrinkleProposalDesc desc;
};

Result<std::vector<WrinkleProposal>> proposalsFor(const WrinklesAutoOptions& options,
                                                  const Character& character, const Clip& clip) {
  ProgressBar bar("measuring");
  return proposeWrinkles(character, clip, options.desc, bar.callback());
}

Result<void> proposeRecipe(const WrinklesAutoOptions& options, Diagnostics& notes) {
  DERM_TRY(const ProposalSource source, options.input.load(notes));
  const Character& character = source.character;
  if (!source.clip)
    return Error{ErrorCode::BadArgument,
                 "has no clip to measure; --motion FILE takes one from another file",
                 {.file = character.name}};
  const Clip& clip = character.clips[*source.clip];
  DERM_TRY(const std::vector<WrinkleProposal> proposals, proposalsFor(options, character, clip));
  std::vector<ProposedLayer> layers;
  for (const WrinkleProposal& p : proposals) layers.push_back(proposedLayer(p));
  DERM_CHECK(options.input.save(source.recipe, layers, "derm wrinkles auto", notes));
  if (options.input.printsRecipe()) return {};
  nlohmann::json list = nlohmann::json::array();
  for (const WrinkleProposal& p : proposals) {
    list.push_back({{"name", p.tool.name},
                    {"joint", p.joint},
                    {"squeeze", p.squeeze},
                    {"time_s", p.time_s},
                    {"lost_area_m2", p.lost_area_m2}});
    say("{:<24} squeezed by {:>2.0f} % at {:.2f} s, {:.1f} cm2 of skin lost\n", p.tool.name,
        100 * p.squeeze, p.time_s, 1e4 * p.lost_area_m2);
  }
  jsonAnswer()["recipe"] = options.input.output;
  jsonAnswer()["tools"] = std::move(list);
  if (proposals.empty())
    say("no skin of \"{}\" is squeezed by {:.0f} % or more in \"{}\"\n", character.name,
        100 * options.desc.min_squeeze, clip.name);
  return {};
}

void addAuto(CLI::App& wrinkles, Run& run) {
  const auto options = std::make_shared<WrinklesAutoOptions>();
  CLI::App* verb = wrinkles.add_subcommand("auto", "propose tools where a clip squeezes the skin");
  options->input.addTo(*verb);
  verb->add_option("--min-squeeze,--least", options->desc.min_squeeze,
                   "smallest squeeze worth a fold, of 1; the other side of a body follows")
      ->check(within(0.01, 0.59))
      ->capture_default_str();
  verb->add_option("--max-folds,--most", options->desc.max_tools, "folds at most")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb->footer("example:\n  derm wrinkles auto cast:arm --clip flex -o arm.toml");
  setWork(*verb, run, options, proposeRecipe);
}

struct MapOptions {
  RecipeInput input;
  std::optional<double> time_s;
  int size = 1024;
  std::string normal_y = "up";
  std::string output;
};

Result<void> drawMap(const MapOptions& options, Diagnostics& notes) {
  if (fileEnding(options.output) != ".png")
    return Error{ErrorCode::BadArgument, "pictures are written as .png", {.file = options.output}};
  if (options.time_s && !std::isfinite(*options.time_s))
    return Error{ErrorCode::BadArgument, "--time must be a finite number of seconds", {}};
  DERM_CHECK(checkOutputs({options.output}));
  DERM_TRY(const SceneSource source, options.input.load(notes));
  DERM_TRY(Scene scene, openScene(source.recipe, source.options, notes));
  if (options.time_s) noteTime(*options.time_s, scene, notes);
  const double time_s = options.time_s.value_or(scene.frameTimes().front());
  const NormalMapDesc desc{
      .width = options.size, .height = options.size, .y_up = options.normal_y == "up"};
  DERM_TRY(const Rgba8Image map, foldNormalMap(scene, time_s, desc, notes));
  return savePng(options.output, map);
}

void addMap(CLI::App& wrinkles, Run& run) {
  const auto options = std::make_shared<MapOptions>();
  CLI::App* verb =
      wrinkles.add_subcommand("map", "the folds of an instant as a normal map for the coarse mesh");
  options->input.addTo(*verb);
  verb->add_option("--time", options->time_s, "[s] instant of the clip; default its first");
  verb->add_option("--size", options->size, "[px] width and height")
      ->check(CLI::Range(16, 8192))
      ->capture_default_str();
  verb->add_option("--normal-y", options->normal_y, "green channel: up (glTF) or down")
      ->check(CLI::IsMember({"up", "down"}))
      ->capture_default_str();
  verb->add_option("-o,--output", options->output, ".png")->required();
  verb->footer("example:\n  derm wrinkles map face.toml --time 1.2 --size 2048 -o folds.png");
  setWork(*verb, run, options, drawMap);
}

}  // namespace

void addWrinklesVerb(CLI::App& app, Run& run) {
  CLI::App* verb =
      app.add_subcommand("wrinkles", "folds: proposals and maps (`derm wrinkles auto --help`)");
  verb->require_subcommand(1);
  addAuto(*verb, run);
  addMap(*verb, run);
}

}  // namespace derm::cli
