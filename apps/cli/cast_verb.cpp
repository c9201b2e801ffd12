#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/cast/cast.h"
#include "derm/cast/cylinder.h"
#include "derm/cast/liquids.h"
#include "derm/io/character_file.h"
#include "derm/io/png.h"

#include "character_input.h"
#include "output_checks.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

struct CastOptions {
  std::string name;
  std::string output;
  bool list = false;
  CylinderDesc cylinder;
  std::string weights = "distance";
  bool own_cylinder = false;
};

const std::map<std::string, CylinderWeights> kCylinderWeights = {
    {"distance", CylinderWeights::Distance},
    {"axis", CylinderWeights::Axis},
    {"halves", CylinderWeights::Halves}};

int listMembers() {
  nlohmann::json all = nlohmann::json::array();
  const auto list = [&](std::span<const CastMember> members, bool liquid) {
    for (const CastMember& m : members) {
      all.push_back({{"name", m.name},
                     {"description", m.description},
                     {"kind", liquid ? "liquid" : "character"}});
      tell("{:<16} {}{}\n", m.name, liquid ? "(liquid) " : "", m.description);
    }
  };
  list(castMembers(), false);
  list(castLiquids(), true);
  jsonAnswer() = std::move(all);
  return finish({});
}

int writeMember(const CastOptions& options) {
  if (const Result<void> ok = checkWritable(options.output); !ok) return report(ok.error());
  if (const Result<void> ok = checkOutputs({options.output}); !ok) return report(ok.error());
  if (options.own_cylinder && options.name != "cylinder")
    return report(Error{ErrorCode::BadArgument,
                        "--rings, --sectors, --length, --radius and --weights are the cylinder's",
                        {.element = options.name}});
  CylinderDesc cylinder = options.cylinder;
  cylinder.weights = kCylinderWeights.at(options.weights);
  const Result<Character> member =
      options.own_cylinder ? makeCylinder(cylinder) : makeCastMember(options.name, encodePng);
  if (!member) return report(member.error());
  Diagnostics notes;
  if (const Result<void> ok = saveCharacter(*member, options.output, notes); !ok)
    return report(ok.error());
  return finish(notes);
}

}  // namespace

void addCastVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<CastOptions>();
  CLI::App* verb = app.add_subcommand("cast", "the characters derm ships with, as files");
  CLI::Option* list = verb->add_flag("--list", options->list, "name them all");
  CLI::Option* name = verb->add_option("NAME", options->name, "see --list");
  addOutput(*verb, options->output, ".glb, .gltf or .obj")->excludes(list);
  name->excludes(list);
  std::vector<CLI::Option*> own;
  own.push_back(verb->add_option("--rings", options->cylinder.rings,
                                 "cylinder: points along it, its ends included")
                    ->check(CLI::Range(2, 1000)));
  own.push_back(
      verb->add_option("--sectors", options->cylinder.sectors, "cylinder: points around it")
          ->check(CLI::Range(3, 1000)));
  own.push_back(verb->add_option("--length", options->cylinder.length_m, "[m] cylinder: along z")
                    ->check(kAboveZero));
  own.push_back(
      verb->add_option("--radius", options->cylinder.radius_m, "[m] cylinder")->check(kAboveZero));
  own.push_back(verb->add_option("--weights", options->weights,
                                 "cylinder: by distance to its ends, along its axis, or halves")
                    ->check(CLI::IsMember(kCylinderWeights)));
  for (CLI::Option* option : own) option->excludes(list);
  verb->footer(
      "examples:\n"
      "  derm cast cat -o cat.glb\n"
      "  derm cast cylinder --rings 25 --sectors 25 --length 2 --radius 0.5 --weights axis -o "
      "c.glb");
  verb->callback([&run, options, own] {
    if (!options->list && (options->name.empty() || options->output.empty()))
      throw CLI::ValidationError("cast", "NAME and -o FILE are needed, or --list");
    options->own_cylinder =
        std::any_of(own.begin(), own.end(), [](const CLI::Option* o) { return o->count() > 0; });
    run = [options] { return options->list ? listMembers() : writeMember(*options); };
  });
}

}  // namespace derm::cli
