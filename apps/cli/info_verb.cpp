#include <fmt/format.h>

#include "character_input.h"
#include "character_report.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {

void addInfoVerb(CLI::App& app, Run& run) {
  struct Options {
    CharacterInput input;
    bool json = false;
    bool joints = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("info", "what is in a file, and what was assumed about it");
  options->input.addTo(*verb);
  verb->add_flag("--joints", options->joints, "the names of all joints, as a tree");
  verb->add_flag("--json", options->json, "for machines; holds the joints too");
  verb->footer("example:\n  derm info walk.glb --json");
  verb->callback([&run, options] {
    run = [options] {
      Diagnostics notes;
      const Result<Character> character = options->input.load(notes);
      if (!character) return report(character.error());
      const CharacterReport r = measure(options->input.source, *character, notes);
      // File names and joint names may hold any bytes; JSON may not.
      fmt::print("{}\n", options->json ? toJson(r).dump(2, ' ', false,
                                                        nlohmann::json::error_handler_t::replace)
                                       : toText(r));
      if (options->joints && !options->json) fmt::print("\n{}", jointTree(character->skeleton));
      return kDone;
    };
  });
}

}  // namespace derm::cli
