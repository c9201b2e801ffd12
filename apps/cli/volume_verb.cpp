#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/image/role_colours.h"
#include "derm/io/file_bytes.h"
#include "derm/scene/volume_study.h"
#include "derm/view/report_plots.h"

#include "output_checks.h"
#include "recipe_input.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

constexpr std::size_t kMaxLines = 24;  ///< frames that the table for people shows
constexpr double kBareFps = 30;        ///< [Hz] of a character without a recipe

constexpr double kWorthTelling = 1e-5;  ///< of a region's volume

struct VolumeOptions {
  RecipeInput input;
  bool csv = false, compare = false;
  std::string plot;
  std::string output;
};

std::string tableOf(const VolumeStudy& study) {
  std::string out = fmt::format(
      "{}{}{}: {} frames at {:g} Hz, {} skinning; rest {:.6g} m3, {:.6g} m2, {} region{}\n\n"
      "{:>8} {:>12} {:>12} {:>12} {:>12} {:>9} {:>15} {:>15}\n",
      study.character, study.clip.empty() ? "" : ", clip ", study.clip, study.frames.size(),
      study.fps, study.skinning, study.rest_m3, study.rest_area_m2, study.region_names.size(),
      study.region_names.size() == 1 ? "" : "s", "time s", "before %", "after %", "region bef.",
      "region aft.", "move mm", "stretch before", "stretch after");
  const std::size_t every = (study.frames.size() + kMaxLines - 1) / kMaxLines;
  for (std::size_t f = 0; f < study.frames.size(); f += std::max<std::size_t>(every, 1)) {
    const VolumeStudy::Frame& frame = study.frames[f];
    const VolumeChange whole = study.wholeChange(frame);
    const VolumeChange worst = study.worstRegionChange(frame);
    out += fmt::format(
        "{:>8.3f} {:>12.4f} {:>12.6f} {:>12.4f} {:>12.6f} {:>9.3f} {:>7.3f} {:>7.3f} {:>7.3f} "
        "{:>7.3f}\n",
        frame.time_s, whole.before_percent, whole.after_percent, worst.before_percent,
        worst.after_percent, 1000 * frame.max_move_m, frame.before.min_stretch,
        frame.before.max_stretch, frame.after.min_stretch, frame.after.max_stretch);
  }
  if (every > 1) out += fmt::format("(one frame of {}; --csv and --json have all)\n", every);
  const std::optional<std::size_t> worst = study.worstRegionBefore();
  out += fmt::format(
      "\nworst change before {:.4f} %, of a region {:.4f} %{}; largest error after {:.2e}\n",
      100 * study.max_relative_loss_before, worst ? 100 * study.region_loss_before[*worst] : 0,
      worst ? " (\"" + study.region_names[*worst] + "\")" : "", study.max_relative_error_after);
  if (study.max_relative_change_unheld > kWorthTelling)
    out += fmt::format("regions that no layer holds change by up to {:.4f} %\n",
                       100 * study.max_relative_change_unheld);
  return out;
}

std::string tableOf(const std::vector<VolumeComparison>& rows) {
  std::string out = fmt::format("{:<24} {:>14} {:>14} {:>10} {:>18} {:>10}\n", "method", "worst %",
                                "of a region", "move mm", "stretch", "ms/frame");
  for (const VolumeComparison& row : rows)
    out += fmt::format("{:<24} {:>14.6f} {:>14.6f} {:>10.3f} {:>9.3f} {:>8.3f} {:>10.3f}\n",
                       row.name, row.worst_percent, row.worst_region_percent, 1000 * row.max_move_m,
                       row.min_stretch, row.max_stretch, row.ms_per_frame);
  return out;
}

template <class Report>
Result<void> writeReport(const Report& report, const VolumeOptions& options) {
  const bool json = commonOptions().json;
  const std::string text = json ? toJson(report) : options.csv ? toCsv(report) : tableOf(report);
  if (!options.output.empty() && options.output != "-") return writeFileWhole(options.output, text);
  if (json) jsonAnswer() = nlohmann::json::parse(text);
  tell("{}", text);
  return {};
}

/// One colour per role, as everywhere: grey and dashed before, blue after, paler those of single
/// regions. Where there is only one, its curves are the whole's and left out.
PlotDesc inRoleColours(PlotDesc plot, std::size_t regions) {
  constexpr Rgba8 kPaleBefore = {186, 186, 190, 255}, kPaleAfter = {140, 166, 222, 255};
  const std::array<Rgba8, 4> colours = {kBeforeColour, kAfterColour, kPaleBefore, kPaleAfter};
  plot.series.resize(std::min<std::size_t>(plot.series.size(), regions > 1 ? 4 : 2));
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    plot.series[i].colour = colours[i];
    plot.series[i].dashed = i % 2 == 0;
  }
  return plot;
}

Result<void> runVolume(const VolumeOptions& options, Diagnostics& notes) {
  if (options.csv && commonOptions().json)
    return Error{ErrorCode::BadArgument, "--csv and --json exclude each other", {}};
  if (!options.plot.empty()) DERM_CHECK(checkPlotEnding(options.plot));
  DERM_CHECK(checkOutputs({options.output, options.plot}));
  DERM_CHECK(checkNotAnInput({options.output, options.plot},
                             {options.input.input.source, options.input.recipe,
                              options.input.motion.file, options.input.motion.map}));
  Recipe bare = defaultVolumeRecipe("");
  bare.fps = kBareFps;
  DERM_TRY(const SceneSource source, options.input.load(notes, bare));
  DERM_CHECK(checkNotNamedBy(source.recipe, {options.output, options.plot}));
  ProgressBar bar("volume");
  if (options.compare) {
    DERM_TRY(const auto rows,
             compareVolumeMethods(source.recipe, source.options, notes, bar.callback()));
    return writeReport(rows, options);
  }
  DERM_TRY(const VolumeStudy study,
           studyVolume(source.recipe, source.options, notes, bar.callback()));
  const PlotDesc plot = inRoleColours(plotOf(study), study.region_names.size());
  if (!options.plot.empty()) DERM_CHECK(savePlots(std::array{plot}, options.plot));
  return writeReport(study, options);
}

}  // namespace

void addVolumeVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<VolumeOptions>();
  CLI::App* verb =
      app.add_subcommand("volume", "volume, area and stretch per frame, before and after");
  options->input.addTo(*verb);
  verb->add_flag("--csv", options->csv, "one line per frame, for spreadsheets");
  CLI::Option* compare = verb->add_flag("--compare", options->compare,
                                        "every skinning and correction on the same clip, instead");
  verb->add_option("--plot", options->plot, "the change of volume as .svg or .png")
      ->excludes(compare);
  verb->add_option("-o,--output", options->output, "write here instead of standard output (-)");
  verb->footer(
      "A bare character is played at 30 Hz with centre skinning and the default volume layer.\n"
      "example:\n  derm volume cast:arm --clip flex --plot arm.svg");
  setWork(*verb, run, options, runVolume);
}

}  // namespace derm::cli
