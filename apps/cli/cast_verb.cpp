#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/cast/cast.h"
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
};

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
  const Result<Character> member = makeCastMember(options.name, encodePng);
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
  verb->footer("example:\n  derm cast cat -o cat.glb");
  verb->callback([&run, options] {
    if (!options->list && (options->name.empty() || options->output.empty()))
      throw CLI::ValidationError("cast", "NAME and -o FILE are needed, or --list");
    run = [options] { return options->list ? listMembers() : writeMember(*options); };
  });
}

}  // namespace derm::cli
