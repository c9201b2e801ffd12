#include <fmt/format.h>

#include "character_input.h"
#include "character_report.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

struct CheckOptions {
  CharacterInput input;
  bool json = false;
  bool strict = false;
};

int runCheck(const CheckOptions& options) {
  Diagnostics notes;
  const Result<Character> character = options.input.load(notes);
  if (!character) {
    if (options.json)
      fmt::print("{}\n", nlohmann::json{{"file", options.input.source},
                                        {"readable", false},
                                        {"error", character.error().text()}}
                             .dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return report(character.error());
  }
  const CharacterReport r = measure(options.input.source, *character, notes);
  std::size_t warnings = 0;
  for (const Diagnostics::Note& n : r.problems.notes()) warnings += n.severity == Severity::Warning;
  if (options.json) {
    fmt::print("{}\n", nlohmann::json{{"file", options.input.source},
                                      {"readable", true},
                                      {"warnings", warnings},
                                      {"problems", toJson(r.problems)}}
                           .dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    for (const Diagnostics::Note& n : r.problems.notes())
      fmt::print("{}: {}\n", n.severity == Severity::Warning ? "warning" : "note", n.text());
    fmt::print("{}: {}\n", options.input.source,
               warnings == 0 ? "sound" : fmt::format("{} kinds of problems", warnings));
  }
  return options.strict && warnings > 0 ? kBadData : kDone;
}

}  // namespace

void addCheckVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* verb = app.add_subcommand("check", "what is wrong with a file");
  options->input.addTo(*verb);
  verb->add_flag("--json", options->json, "for machines");
  verb->add_flag("--strict", options->strict, "warnings count as bad data (exit code 1)");
  verb->footer("example:\n  derm check body.glb --strict");
  verb->callback([&run, options] { run = [options] { return runCheck(*options); }; });
}

}  // namespace derm::cli
