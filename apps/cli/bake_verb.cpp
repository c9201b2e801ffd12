#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "derm/scene/bake.h"
#include "derm/scene/volume_study.h"
#include "derm/view/report_plots.h"

#include "output_checks.h"
#include "recipe_input.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

struct BakeOptions {
  RecipeInput input;
  std::string output;
  std::string as = "cache";
  std::optional<std::size_t> shapes;
  std::optional<double> error_mm;
  std::vector<std::string> channels;
  std::string report;
  std::string plot;
};

Result<BakeDesc> bakeDescOf(const BakeOptions& options, Diagnostics& notes) {
  BakeDesc desc;
  desc.output = options.output;
  desc.as = options.as == "correctives" ? BakeAs::Correctives : BakeAs::Cache;
  if (desc.as == BakeAs::Cache && (options.shapes || options.error_mm))
    return Error{ErrorCode::BadArgument, "--shapes and --error-mm go with --as correctives", {}};
  desc.correctives.shapes = options.shapes;
  if (options.error_mm) desc.correctives.error_m = *options.error_mm / 1000;
  desc.channels = options.channels;
  if (!options.report.empty()) desc.report = options.report;
  // Measuring costs more than plain skinning does; a cache nobody asks about is not measured.
  desc.measure = !options.report.empty() || !options.plot.empty();
  const bool correctives = desc.as == BakeAs::Correctives;
  DERM_TRY(SceneSource source,
           options.input.load(notes, correctives ? defaultVolumeRecipe("") : Recipe()));
  if (correctives) noteNothingAdded(source.recipe, notes);
  desc.recipe = std::move(source.recipe);
  desc.scene = std::move(source.options);
  return desc;
}

void printSummary(const BakeReport& report) {
  say("{}: {} {} of {} vertices, {} triangles", report.output, report.frame_count,
      report.frame_count == 1 ? "frame" : "frames", report.vertices, report.triangles);
  if (!report.clip.empty()) say(" from \"{}\"", report.clip);
  say("\n");
  if (!report.correctives) return;
  const BakeReport::Correctives& c = *report.correctives;
  const double largest_m = std::max(c.max_error_m, c.max_error_between_m);
  say("{} {} with {} keys: at most {:.3g} mm off at the frames, {:.3g} mm between them", c.shapes,
      c.shapes == 1 ? "corrective shape" : "corrective shapes", c.keys, 1000 * c.max_error_m,
      1000 * c.max_error_between_m);
  say(" ({:.2g} % of the diagonal), {:.3g} mm RMS\n",
      report.diagonal_m > 0 ? 100 * largest_m / report.diagonal_m : 0, 1000 * c.rms_error_m);
  if (report.closed) say("volume of what plays: at most {:+.2g} %\n", 100 * c.volume_change);
  if (c.near_singular > 0)
    say("{} vertices x keys twisted too far for any shape; they show in the error\n",
        c.near_singular);
}

Result<void> runBake(const BakeOptions& options, Diagnostics& notes) {
  if (!options.plot.empty()) DERM_CHECK(checkPlotEnding(options.plot));
  DERM_CHECK(checkOutputs({options.output, options.report, options.plot}));
  DERM_CHECK(checkNotAnInput(
      {options.output, options.report, options.plot},
      {options.input.input.source, options.input.recipe, options.input.motion.file}));
  DERM_TRY(const BakeDesc desc, bakeDescOf(options, notes));
  BakeReport report;
  {
    ProgressBar bar("bake");
    DERM_TRY(report, bake(desc, notes, bar.callback()));
  }
  if (!options.plot.empty()) DERM_CHECK(savePlots(plotsOf(report), options.plot));
  printSummary(report);
  return {};
}

struct PlotOptions {
  std::string report;
  std::string output;
};

Result<void> plotReport(const PlotOptions& options, Diagnostics&) {
  DERM_CHECK(checkPlotEnding(options.output));
  DERM_TRY(const BakeReport report, loadBakeReport(options.report));
  return savePlots(plotsOf(report), options.output);
}

}  // namespace

void addBakeVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<BakeOptions>();
  CLI::App* verb = app.add_subcommand("bake", "deformed motion as a file that any engine plays");
  options->input.addTo(*verb);
  addOutput(*verb, options->output, ".glb, .gltf, .pc2, .mdd, or .obj with {frame} in its name")
      ->required();
  verb->add_option("--as", options->as,
                   "cache: every frame; correctives: skin and clip stay, what layers add becomes "
                   "morph targets")
      ->check(CLI::IsMember({"cache", "correctives"}))
      ->capture_default_str();
  CLI::Option* shapes =
      verb->add_option("--shapes", options->shapes, "correctives: at most this many")
          ->check(kAboveZero);
  verb->add_option("--error-mm", options->error_mm,
                   "correctives: as few as keep this largest error, at and between frames [mm]")
      ->check(kAboveZero)
      ->excludes(shapes);
  verb->add_option("--channel", options->channels,
                   "where this layer works, as a vertex group of a .glb or .gltf cache; may be "
                   "given again")
      ->allow_extra_args(false)
      ->type_name("LAYER");
  verb->add_option("--report", options->report, "measures of every frame as JSON");
  verb->add_option("--plot", options->plot, "volume, area and displacement as .svg or .png");
  verb->footer(
      "--as correctives gives a bare character centre skinning and the volume layer.\n"
      "examples:\n"
      "  derm bake belly.toml -o belly.glb --as correctives --error-mm 0.5 --report belly.json\n"
      "  derm bake cast:cat --clip jump -o jump.pc2\n"
      "  derm bake hero.glb --recipe belly.toml -o hero_{frame}.obj");
  setWork(*verb, run, options, runBake);
}

void addPlotVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<PlotOptions>();
  CLI::App* verb = app.add_subcommand("plot", "curves of a bake's report");
  verb->add_option("REPORT", options->report, "what derm bake --report wrote")->required();
  verb->add_option("-o,--output", options->output, ".svg or .png")->required();
  verb->footer("example:\n  derm plot belly.json -o belly.svg");
  setWork(*verb, run, options, plotReport);
}

}  // namespace derm::cli
