#include <algorithm>
#include <map>
#include <numbers>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
  std::optional<std::size_t> influences;
  std::optional<std::size_t> maps;
  std::optional<int> map_size_px;
  std::vector<std::string> channels;
  std::string report;
  std::string plot;
};

const std::map<std::string, BakeAs> kKinds = {{"cache", BakeAs::Cache},
                                              {"correctives", BakeAs::Correctives},
                                              {"normal-maps", BakeAs::NormalMaps}};

/// Fails where --clip asks for several clips and --plot for their curves: before anything is
/// written.
Result<void> checkOneClipToPlot(const BakeOptions& options, SceneSource& source,
                                Diagnostics& notes) {
  if (options.plot.empty() || options.input.clips.empty()) return {};
  DERM_CHECK(takeCharacter(source, notes));
  const Character& character = *source.options.character;
  const std::size_t of_motion = character.clips.size();  // the recipe's, which comes last
  std::set<std::size_t> clips;
  for (const std::string& name : options.input.clips) {
    if (const Result<std::size_t> found = character.findClip(name))
      clips.insert(*found);
    else if (name != "all")
      clips.insert(of_motion);
    else
      for (std::size_t c = 0; c < of_motion + (source.recipe.motion.empty() ? 0 : 1); ++c)
        clips.insert(c);
  }
  if (clips.size() <= 1) return {};
  return Error{ErrorCode::BadArgument,
               "the curves of " + std::to_string(clips.size()) +
                   " clips would lie over each other: bake one to plot it",
               {.file = options.plot}};
}

Result<BakeDesc> bakeDescOf(const BakeOptions& options, Diagnostics& notes) {
  BakeDesc desc;
  desc.output = options.output;
  desc.as = kKinds.at(options.as);
  if (desc.as == BakeAs::Cache && (options.shapes || options.error_mm || options.influences))
    return Error{ErrorCode::BadArgument,
                 "--shapes, --error-mm and --influences go with --as correctives",
                 {}};
  if (desc.as != BakeAs::NormalMaps && (options.maps || options.map_size_px))
    return Error{ErrorCode::BadArgument, "--maps and --map-size go with --as normal-maps", {}};
  if (options.maps) desc.fold_maps.max_maps = *options.maps;
  if (options.map_size_px) desc.fold_maps.size_px = *options.map_size_px;
  desc.correctives.shapes = options.shapes;
  if (options.error_mm) desc.correctives.error_m = *options.error_mm / 1000;
  desc.influences = options.influences;
  if (!options.input.restPose()) desc.clips = options.input.clips;
  desc.channels = options.channels;
  if (!options.report.empty() && options.report != "-") desc.report = options.report;
  // Measuring costs more than plain skinning does; a cache nobody asks about is not measured.
  desc.measure = !options.report.empty() || !options.plot.empty();
  const bool correctives = desc.as != BakeAs::Cache;
  DERM_TRY(SceneSource source,
           options.input.load(notes, correctives ? defaultVolumeRecipe("") : Recipe()));
  DERM_CHECK(checkNotNamedBy(source.recipe, {options.output, options.report, options.plot}));
  DERM_CHECK(checkOneClipToPlot(options, source, notes));
  if (correctives) noteNothingAdded(source.recipe, notes);
  desc.recipe = std::move(source.recipe);
  desc.scene = std::move(source.options);
  return desc;
}

void printSummary(const BakeReport& report) {
  say("{}: {} {} of {} vertices, {} triangles", report.output, report.frame_count,
      report.frame_count == 1 ? "frame" : "frames", report.vertices, report.triangles);
  if (!report.clip.empty()) say(" from \"{}\"", report.clip);
  if (!report.clips.empty()) say(" from {} clips", report.clips.size());
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
  if (!report.fold_maps) return;
  const BakeReport::FoldMaps& m = *report.fold_maps;
  constexpr double kDegrees = 180 / std::numbers::pi;
  say("{} normal {} of {} x {} pixels for folds that turn normals by up to {:.0f} degrees: {:.2g} "
      "degrees RMS off, {:.2g} at most\n",
      m.maps, m.maps == 1 ? "map" : "maps", m.size_px, m.size_px, kDegrees * m.largest_turn_rad,
      kDegrees * std::max(m.rms_error_rad, m.rms_error_between_rad),
      kDegrees * std::max(m.max_error_rad, m.max_error_between_rad));
}

/// What was made and how good it is, for --json; frame by frame only where the report was to be
/// printed.
void tellReport(const BakeOptions& options, const BakeReport& report) {
  const bool whole = options.report == "-";
  if (whole && !commonOptions().json) fmt::print("{}", toJson(report));
  nlohmann::json answer = nlohmann::json::parse(toJson(report), nullptr, false);
  if (!answer.is_object()) return;
  if (!whole) answer.erase("frames");
  if (report.frames.empty()) {  // not measured
    for (const char* key : {"closed", "rest_volume_m3", "rest_area_m2", "state_hash"})
      answer.erase(key);
    if (answer.contains("correctives")) answer["correctives"].erase("volume_change");
  }
  jsonAnswer().update(answer);
}

Result<void> savePlotsOf(const BakeReport& report, const std::string& file) {
  if (!report.clips.empty())
    return Error{ErrorCode::BadArgument,
                 "the curves of " + std::to_string(report.clips.size()) +
                     " clips would lie over each other: bake one to plot it",
                 {.file = file}};
  return savePlots(plotsOf(report), file);
}

Result<void> runBake(const BakeOptions& options, Diagnostics& notes) {
  if (!options.plot.empty()) DERM_CHECK(checkPlotEnding(options.plot));
  DERM_CHECK(checkOutputs({options.output, options.report, options.plot}));
  DERM_CHECK(checkNotAnInput({options.output, options.report, options.plot},
                             {options.input.input.source, options.input.recipe,
                              options.input.motion.file, options.input.motion.map}));
  DERM_TRY(const BakeDesc desc, bakeDescOf(options, notes));
  BakeReport report;
  {
    ProgressBar bar("bake");
    DERM_TRY(report, bake(desc, notes, bar.callback()));
  }
  if (!options.plot.empty()) DERM_CHECK(savePlotsOf(report, options.plot));
  tellReport(options, report);
  printSummary(report);
  return {};
}

struct PlotOptions {
  std::string report;
  std::string output;
};

Result<void> plotReport(const PlotOptions& options, Diagnostics&) {
  DERM_CHECK(checkPlotEnding(options.output));
  DERM_CHECK(checkOutputs({options.output}));
  DERM_TRY(const BakeReport report, loadBakeReport(options.report));
  return savePlotsOf(report, options.output);
}

}  // namespace

void addBakeVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<BakeOptions>();
  CLI::App* verb = app.add_subcommand("bake", "deformed motion as a file that any engine plays");
  options->input.addTo(*verb, RecipeInput::Clips::Several);
  addOutput(*verb, options->output, ".glb, .gltf, .pc2, .mdd, or .obj with {frame} in its name")
      ->required();
  verb->add_option("--as", options->as,
                   "cache: every frame; correctives: skin and clip stay, what layers add becomes "
                   "morph targets; normal-maps: the same but for folds, which become normal maps "
                   "with weights in the clip")
      ->check(CLI::IsMember(kKinds))
      ->capture_default_str();
  CLI::Option* shapes =
      verb->add_option("--shapes", options->shapes, "correctives: at most this many")
          ->check(kAboveZero);
  verb->add_option("--error-mm", options->error_mm,
                   "correctives: as few as keep this largest error, at and between frames [mm]")
      ->check(kAboveZero)
      ->excludes(shapes);
  verb->add_option("--influences,--max-influences", options->influences,
                   "correctives: at most this many joints per vertex, as many engines read 4; the "
                   "shapes make up for the others")
      ->check(kAboveZero);
  verb->add_option("--maps", options->maps,
                   "normal maps: at most this many per material, default 8")
      ->check(CLI::Range(std::size_t{1}, FoldMapsDesc::kMostMaps))
      ->type_name("N");
  verb->add_option("--map-size", options->map_size_px, "[px] side of each normal map, default 1024")
      ->check(CLI::Range(16, 8192))
      ->type_name("PX");
  verb->add_option("--channel", options->channels,
                   "where this layer works, as a vertex group of a .glb or .gltf cache; may be "
                   "given again")
      ->allow_extra_args(false)
      ->type_name("LAYER");
  verb->add_option("--report", options->report, "measures of every frame as JSON; - prints it");
  verb->add_option("--plot", options->plot, "volume, area and displacement as .svg or .png");
  verb->footer(
      "--as correctives gives a bare character centre skinning and the volume layer.\n"
      "examples:\n"
      "  derm bake belly.toml -o belly.glb --as correctives --error-mm 0.5 --report belly.json\n"
      "  derm bake hero.glb --clip all --influences 4 -o out.glb --as correctives --error-mm 1\n"
      "  derm bake cast:cat --clip jump -o jump.pc2\n"
      "  derm bake folds.toml --as normal-maps --error-mm 1 -o folds.glb\n"
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
