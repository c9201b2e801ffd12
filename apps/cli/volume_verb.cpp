#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "derm/image/plot.h"
#include "derm/io/whole_file.h"
#include "derm/scene/volume_study.h"

#include "character_input.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

constexpr std::size_t kMostLines = 24;  ///< frames that the table for people shows

struct VolumeOptions {
  CharacterInput input;
  std::string clip;
  double fps = 0;  ///< 0 = the recipe's, or 30 for a bare character
  bool csv = false, json = false, compare = false;
  std::string plot;
  std::string output;
};

Result<Recipe> recipeOf(const VolumeOptions& options) {
  Recipe recipe;
  if (std::filesystem::path(options.input.source).extension() == ".toml") {
    DERM_TRY(recipe, loadRecipe(options.input.source));
  } else {
    recipe = defaultVolumeRecipe(options.input.source);
    recipe.fps = 30;
  }
  if (!options.clip.empty()) {
    const bool digits = std::all_of(options.clip.begin(), options.clip.end(),
                                    [](char c) { return c >= '0' && c <= '9'; });
    if (digits && options.clip.size() < 10)
      recipe.clip = std::int64_t{std::stoll(options.clip)};
    else
      recipe.clip = options.clip;
  }
  if (options.fps > 0) recipe.fps = options.fps;
  return recipe;
}

double percent(double now, double rest) { return rest != 0 ? 100 * (now / rest - 1) : 0.0; }

std::string tableOf(const VolumeStudy& study) {
  std::string out = fmt::format(
      "{}{}{}: {} frames at {:g} Hz, {} skinning; rest {:.6g} m3, {:.6g} m2, {} region{}\n\n"
      "{:>8} {:>12} {:>12} {:>12} {:>12} {:>9} {:>15} {:>15}\n",
      study.character, study.clip.empty() ? "" : ", clip ", study.clip, study.frames.size(),
      study.fps, study.skinning, study.rest_m3, study.rest_area_m2, study.region_names.size(),
      study.region_names.size() == 1 ? "" : "s", "time s", "before %", "after %", "region bef.",
      "region aft.", "move mm", "stretch before", "stretch after");
  const std::size_t every = (study.frames.size() + kMostLines - 1) / kMostLines;
  for (std::size_t f = 0; f < study.frames.size(); f += std::max<std::size_t>(every, 1)) {
    const VolumeStudy::Frame& frame = study.frames[f];
    double before = 0, after = 0;
    for (std::size_t l = 0; l < frame.regions.size(); ++l) {
      const double then = percent(frame.regions[l].before.volume_m3, study.region_rest_m3[l]);
      const double now = percent(frame.regions[l].after.volume_m3, study.region_rest_m3[l]);
      if (std::abs(then) > std::abs(before)) before = then;
      if (std::abs(now) > std::abs(after)) after = now;
    }
    out += fmt::format(
        "{:>8.3f} {:>12.4f} {:>12.6f} {:>12.4f} {:>12.6f} {:>9.3f} {:>7.3f} {:>7.3f} {:>7.3f} "
        "{:>7.3f}\n",
        frame.time_s, percent(frame.before.volume_m3, study.rest_m3),
        percent(frame.after.volume_m3, study.rest_m3), before, after, 1000 * frame.max_move_m,
        frame.before.min_stretch, frame.before.max_stretch, frame.after.min_stretch,
        frame.after.max_stretch);
  }
  if (every > 1) out += fmt::format("(every {}th frame; --csv and --json have all)\n", every);
  out += fmt::format(
      "\nworst change before {:.4f} %, of a region {:.4f} %; largest error after {:.2e}\n",
      100 * study.max_relative_loss_before, 100 * study.max_relative_region_loss_before,
      study.max_relative_error_after);
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
std::string textOf(const Report& report, const VolumeOptions& options) {
  return options.json ? toJson(report) : options.csv ? toCsv(report) : tableOf(report);
}

Result<void> writeText(const std::string& text, const std::string& output) {
  if (output.empty()) {
    fmt::print("{}", text);
    return {};
  }
  DERM_TRY(WholeFile file, WholeFile::create(output));
  DERM_CHECK(file.append(text));
  return file.commit();
}

Result<void> runVolume(const VolumeOptions& options, Diagnostics& notes) {
  DERM_TRY(const Recipe recipe, recipeOf(options));
  SceneOptions scene;
  if (!options.input.unit.empty()) {
    DERM_TRY(scene.import.metres_per_unit, metresPerUnit(options.input.unit));
  }
  ProgressBar bar("volume");
  if (options.compare) {
    DERM_TRY(const auto rows, compareVolumeMethods(recipe, scene, notes, bar.callback()));
    return writeText(textOf(rows, options), options.output);
  }
  DERM_TRY(const VolumeStudy study, studyVolume(recipe, scene, notes, bar.callback()));
  if (!options.plot.empty()) {
    DERM_TRY(const std::string svg, plotSvg(plotOf(study)));
    DERM_CHECK(writeText(svg, options.plot));
  }
  return writeText(textOf(study, options), options.output);
}

}  // namespace

void addVolumeVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<VolumeOptions>();
  CLI::App* verb =
      app.add_subcommand("volume", "volume, area and stretch per frame, before and after");
  options->input.addTo(*verb, "FILE|RECIPE");
  verb->add_option("--clip", options->clip, "name or number; default the recipe's, or the first");
  verb->add_option("--fps", options->fps, "[Hz] default the recipe's, or 30 for a character")
      ->check(CLI::Range(Recipe::kLeastFps, Recipe::kMostFps));
  CLI::Option* csv = verb->add_flag("--csv", options->csv, "one line per frame, for spreadsheets");
  verb->add_flag("--json", options->json, "everything, for machines")->excludes(csv);
  CLI::Option* compare = verb->add_flag("--compare", options->compare,
                                        "every skinning and correction on the same clip, instead");
  verb->add_option("--plot", options->plot, "draw the change of volume to this .svg")
      ->excludes(compare);
  verb->add_option("-o,--output", options->output, "write here instead of standard output");
  verb->footer(
      "A bare character is played with centre skinning and the default volume layer.\n"
      "example:\n  derm volume cast:arm --clip bend --plot arm.svg");
  verb->callback([&run, options] {
    run = [options] {
      Diagnostics notes;
      const Result<void> done = runVolume(*options, notes);
      if (!done) return report(done.error());
      printWarnings(notes);
      return kDone;
    };
  });
}

}  // namespace derm::cli
