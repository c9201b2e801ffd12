#include <fmt/format.h>

#include "character_input.h"
#include "character_report.h"
#include "recipe_input.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

struct CheckOptions {
  CharacterInput input;
  bool strict = false;
};

Result<Diagnostics> problemsOf(const CheckOptions& options) {
  Diagnostics notes;
  if (isRecipe(options.input.source)) {
    // Opening binds every layer: what can be wrong with a recipe shows.
    DERM_TRY(const Recipe recipe, loadRecipe(options.input.source));
    SceneOptions scene;
    DERM_TRY(scene.import.metres_per_unit, options.input.scale());
    DERM_CHECK(openScene(recipe, scene, notes));
    return notes;
  }
  DERM_TRY(const Character character, options.input.load(notes));
  return measure(options.input.source, character, notes).problems;
}

int runCheck(const CheckOptions& options) {
  const Result<Diagnostics> problems = problemsOf(options);
  jsonAnswer() = {{"file", options.input.source}, {"readable", problems.ok()}};
  if (!problems) return report(problems.error());
  std::size_t warnings = 0;
  for (const Diagnostics::Note& n : problems->notes()) {
    warnings += n.severity == Severity::Warning;
    tell("{}: {}\n", n.severity == Severity::Warning ? "warning" : "note", n.text());
  }
  tell("{}: {}\n", options.input.source,
       warnings == 0 ? "sound" : fmt::format("{} kinds of problems", warnings));
  jsonAnswer()["warnings"] = warnings;
  jsonAnswer()["problems"] = toJson(*problems);
  finish({});
  return options.strict && warnings > 0 ? kBadData : kDone;
}

}  // namespace

void addCheckVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* verb = app.add_subcommand("check", "what is wrong with a file");
  options->input.addTo(*verb, "INPUT");
  verb->get_option("INPUT")->description(
      "a character or mesh file, cast:NAME, or a recipe (.toml)");
  verb->add_flag("--strict", options->strict, "warnings count as bad data (exit code 1)");
  verb->footer("example:\n  derm check body.glb --strict");
  verb->callback([&run, options] { run = [options] { return runCheck(*options); }; });
}

}  // namespace derm::cli
