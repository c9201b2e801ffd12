#include <fmt/format.h>

#include "derm/repro/report.h"

#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

struct ReproVerbOptions {
  ReproOptions repro;
  std::string folder;
  bool list = false;
};

void listExhibits() {
  for (const ReproDocument& document : reproDocuments()) {
    tell("{} {:<10} {}\n", document.number, document.name, document.title);
    for (const ReproExhibit& exhibit : document.exhibits) {
      tell("    {} {:<14} {}\n", document.number, exhibit.id, exhibit.title);
      jsonAnswer()["exhibits"].push_back({{"id", fmt::format("{} {}", document.number, exhibit.id)},
                                          {"title", std::string(exhibit.title)}});
    }
  }
}

Result<void> runRepro(const ReproVerbOptions& options, Diagnostics& notes) {
  if (options.list) {
    listExhibits();
    return {};
  }
  if (options.folder.empty())
    return Error{ErrorCode::BadArgument, "-o is needed: the folder for the report", {}};
  ProgressBar bar("repro");
  DERM_TRY(const ReproReport report,
           reproduce(reproDocuments(), options.repro, notes, bar.callback()));
  DERM_CHECK(saveReproReport(report, options.folder));
  jsonAnswer() = nlohmann::json::parse(reproJson(report));
  std::string summary;
  for (const ReproVerdict v : {ReproVerdict::Equal, ReproVerdict::Better, ReproVerdict::Holds,
                               ReproVerdict::Differs, ReproVerdict::Missed})
    summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", report.count(v), name(v));
  say("{} exhibits in {:.1f} s: {}\n{}/report.html, {}/report.json\n", report.entries.size(),
      report.seconds, summary, options.folder, options.folder);
  const std::vector<std::string> misses = report.misses();
  if (misses.empty()) return {};
  for (const std::string& miss : misses) fmt::print(stderr, "derm: {}\n", miss);
  return Error{ErrorCode::BadData,
               fmt::format("{} number{} missed", misses.size(), misses.size() == 1 ? "" : "s"),
               {.file = (std::filesystem::path(options.folder) / "report.html").string()}};
}

}  // namespace

void addReproVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<ReproVerbOptions>();
  CLI::App* verb = app.add_subcommand(
      "repro", "every table and figure of the papers behind derm, ours beside theirs");
  verb->add_option("NAME", options->repro.what,
                   "all, a document's name or number, or one exhibit: \"001 table 4.1\"")
      ->capture_default_str();
  verb->add_option("-o,--output", options->folder,
                   "folder for report.html and report.json; made where it is missing");
  verb->add_flag("--pictures,!--no-pictures", options->repro.pictures,
                 "draw what has a picture, where something can be drawn (default)");
  verb->add_option("--perturb", options->repro.perturb,
                   "make every number of ours wrong by this share, to see that it is found out")
      ->check(within(-1.0, 1.0))
      ->type_name("SHARE");
  verb->add_flag("--list", options->list, "what there is, instead");
  verb->footer(
      "Exits with 1 where a number of ours is not what it must be; the report is written all the "
      "same.\nexample:\n  derm repro all -o out/repro\n  derm repro volume -o out/volume "
      "--no-pictures");
  setWork(*verb, run, options, runRepro);
}

}  // namespace derm::cli
