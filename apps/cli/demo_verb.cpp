#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "derm/io/file_bytes.h"
#include "derm/io/png.h"
#include "derm/scene/bake.h"
#include "derm/view/film_strip.h"
#include "derm/view/report_plots.h"

#include "demo_gallery.h"
#include "demo_page.h"
#include "demo_player.h"
#include "demo_recipes.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxError_m = 0.0005;
constexpr std::size_t kStripPictures = 8;

struct DemoOptions {
  std::string folder = "out/demo";
  std::string three;
  std::string web;
};

Result<BakeReport> bakeCat(const Recipe& recipe, const fs::path& folder, Diagnostics& notes) {
  ProgressBar bar("bake");
  BakeDesc desc;
  desc.recipe = recipe;
  desc.output = folder / "cat.glb";
  desc.as = BakeAs::Correctives;
  desc.correctives.error_m = kMaxError_m;
  desc.report = folder / "report.json";
  DERM_TRY(BakeReport report, bake(desc, notes, bar.callback()));
  DERM_CHECK(savePlots(plotsOf(report), folder / "curves.svg"));
  return report;
}

/// Beside linear skinning, in quick light.
Result<FilmResult> filmOf(Scene& scene, ViewDesc view, const fs::path& file, Diagnostics& notes) {
  view.size = {.width = 1120, .height = 420};
  view.comparison = Comparison::SideBySide;
  view.quick = true;
  DERM_TRY(SceneView film, SceneView::make(scene, view, notes));
  ProgressBar bar("film");
  return drawFilm(film, file, bar.callback(), notes);
}

Result<FilmResult> drawCat(const Recipe& recipe, const fs::path& folder, Diagnostics& notes) {
  DERM_TRY(Scene scene, openScene(recipe, {}, notes));
  ViewDesc view;
  view.follow = true;
  view.size = {.width = 1600, .height = 600, .supersample = 2};
  // From the side one sees the belly swing and the hind legs bend.
  view.orbit = {.yaw_rad = 1.05, .pitch_rad = 0.2};
  {
    DERM_TRY(SceneView strip_view, SceneView::make(scene, view, notes));
    ProgressBar bar("strip");
    DERM_TRY(const Rgba8Image strip, drawStrip(strip_view, kStripPictures, bar.callback()));
    DERM_CHECK(savePng(folder / "strip.png", strip));
  }
  return filmOf(scene, view, folder / "cat.mp4", notes);
}

/// What a stranger sees within a second: linear skinning wrings the forearm like a candy wrapper.
Result<FilmResult> drawTwist(const fs::path& folder, Diagnostics& notes) {
  DERM_TRY(const Recipe recipe, parseRecipe(kArmTwistRecipe, "arm_twist.toml"));
  DERM_TRY(Scene scene, openScene(recipe, {}, notes));
  ViewDesc view;
  view.orbit = {.yaw_rad = 0.35, .pitch_rad = 0.35};
  return filmOf(scene, view, folder / "twist.mp4", notes);
}

std::string percentText(double change) {
  return std::abs(change) < 1e-4 ? fmt::format("{:+.1e} %", 100 * change)
                                 : fmt::format("{:+.2f} %", 100 * change);
}

/// Largest change against rest, with its sign.
std::string worstChange(const BakeReport& report, double BakeReport::Frame::*volume) {
  double worst = 0;
  for (const BakeReport::Frame& frame : report.frames) {
    const double change = frame.*volume / report.rest_volume_m3 - 1;
    if (std::abs(change) > std::abs(worst)) worst = change;
  }
  return percentText(worst);
}

DemoPage pageOf(const BakeReport& report, const FilmResult& twist, const FilmResult& cat) {
  DemoPage page;
  page.title = "derm: the skin that skinning leaves out";
  page.about =
      "Left: plain skinning. Right: joints that keep their volume, skin that folds, flesh that "
      "swings. "
      "Switch layers off and on; drag to turn. The cat's jump is baked into a plain glTF file: the "
      "original skin and skeleton, plus a few morph targets with animated weights.";
  page.model = "cat.glb";
  page.clip = report.clip;
  for (const auto& [title, film] : {std::pair{"A forearm twists", &twist}, {"The cat jumps", &cat}})
    page.films.push_back({title, film->path.filename().string(), film->is_sequence});
  page.strip = "strip.png";
  page.plot = "curves.svg";
  double largest_m = 0;
  for (const BakeReport::Frame& frame : report.frames)
    largest_m = std::max(largest_m, frame.max_displacement_m);
  page.numbers = {
      {"vertices, triangles", fmt::format("{}, {}", report.vertices, report.triangles)},
      {"frames", fmt::format("{} at {:g} Hz", report.frame_count, report.fps)},
      {"largest change of volume, linear skinning",
       worstChange(report, &BakeReport::Frame::linear_volume_m3)},
      {"largest change of volume, derm", worstChange(report, &BakeReport::Frame::volume_m3)},
      {"largest change of volume, the glTF as played",
       percentText(report.correctives->volume_change)},
      {"largest difference to linear skinning", fmt::format("{:.1f} mm", 1000 * largest_m)},
      {"corrective shapes, keys",
       fmt::format("{}, {}", report.correctives->shapes, report.correctives->keys)},
      {"largest error of the glTF, at the frames",
       fmt::format("{:.2f} mm", 1000 * report.correctives->max_error_m)},
      {"largest error of the glTF, between frames",
       fmt::format("{:.2f} mm", 1000 * report.correctives->max_error_between_m)}};
  page.files = {"cat.toml",  "cat.glb",    page.films[0].file, page.films[1].file,
                "strip.png", "curves.svg", "report.json"};
  return page;
}

Result<void> runDemo(const DemoOptions& options, Diagnostics& notes) {
  const fs::path folder = options.folder;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return Error{ErrorCode::CannotWrite, failed.message(), {.file = folder.string()}};
  DERM_CHECK(writeFileWhole(folder / "cat.toml", kCatRecipe));
  DERM_TRY(const Recipe recipe, parseRecipe(kCatRecipe, (folder / "cat.toml").string()));
  DERM_TRY(const BakeReport report, bakeCat(recipe, folder, notes));
  DERM_TRY(const FilmResult twist, drawTwist(folder, notes));
  DERM_TRY(const FilmResult cat, drawCat(recipe, folder, notes));
  DemoPage page = pageOf(report, twist, cat);
  {
    ProgressBar bar("player");
    DERM_TRY(page.player, demoPlayerHtml(notes, bar.callback()));
  }
  page.recipe = kCatRecipe;
  DERM_TRY(page.gallery, drawGallery(folder, notes));
  for (const DemoPage::Panel& panel : page.gallery) page.files.push_back(panel.picture);
  DERM_TRY(const std::string html,
           demoPageHtml(page, folder, findThree(options.three), options.web));
  DERM_CHECK(writeFileWhole(folder / "index.html", html));
  say("{}\n\n", page.title);
  for (const DemoPage::Number& n : page.numbers) say("  {:<46} {:>16}\n", n.what, n.value);
  say("\nOpen {} in a browser. Beside it: {}\n", (folder / "index.html").string(),
      fmt::join(page.files, ", "));
  return {};
}

}  // namespace

void addDemoVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<DemoOptions>();
  CLI::App* verb = app.add_subcommand("demo", "the main job on the built-in cast; needs no input");
  verb->add_option("-o,--output", options->folder, "folder for the results")->capture_default_str();
  verb->add_option("--three", options->three,
                   "folder of three.js, for a model that turns in the page")
      ->envname("DERM_THREE");
  verb->add_option("--web", options->web,
                   "derm.single.js of `./run web`, for a page that plays live")
      ->envname("DERM_WEB");
  verb->footer("example:\n  derm demo");
  setWork(*verb, run, options, runDemo);
}

}  // namespace derm::cli
