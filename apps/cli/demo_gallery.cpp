#include "demo_gallery.h"

#include <array>
#include <string>

#include "derm/io/png.h"
#include "derm/scene/scene.h"
#include "derm/view/film_strip.h"

#include "demo_recipes.h"
#include "terminal.h"

namespace derm::cli {
namespace {

constexpr PictureSize kPanel = {.width = 1120, .height = 400, .supersample = 2};

struct Exhibit {
  std::string_view title;
  std::string_view text;
  std::string_view file;
  std::string_view recipe;
  double time_s;            ///< [s] of the picture; not used by strips
  std::size_t strip_count;  ///< 0: one picture beside linear skinning
  OrbitDesc orbit;
  std::string_view focus = {};  ///< the joint to look at; empty: the whole character
};

constexpr std::array kExhibits = {
    Exhibit{"Joints that keep their volume",
            "A forearm twisted by 170 degrees. Linear skinning makes a candy wrapper of it.",
            "twist.png",
            kArmTwistRecipe,
            2.0,
            0,
            {.yaw_rad = 0.35, .pitch_rad = 0.35}},
    Exhibit{"Flesh that lags and swings",
            "A hopping mushroom; strokes show how far flesh is from where skinning puts it.",
            "flesh.png",
            kMushroomRecipe,
            0.0,
            6,
            {}},
    Exhibit{"Folds that keep their length",
            "A baby's wrist bends; the skin in the crease folds, since it cannot get shorter.",
            "folds.png",
            kWristRecipe,
            2.6,
            0,
            {.yaw_rad = 0.35, .pitch_rad = 0.8, .zoom = 2},
            "hand"}};

Result<void> draw(const Exhibit& exhibit, const std::filesystem::path& folder, Diagnostics& notes) {
  DERM_TRY(const Recipe recipe, parseRecipe(exhibit.recipe, std::string(exhibit.file)));
  DERM_TRY(Scene scene, openScene(recipe, {}, notes));
  ViewDesc view;
  view.size = kPanel;
  view.orbit = exhibit.orbit;
  if (!exhibit.focus.empty()) view.focus = std::string(exhibit.focus);
  view.follow = view.field = exhibit.strip_count > 0;
  if (exhibit.strip_count == 0) view.comparison = Comparison::SideBySide;
  DERM_TRY(SceneView picture, SceneView::make(scene, view, notes));
  if (exhibit.strip_count > 0) {
    DERM_TRY(const Rgba8Image strip, drawStrip(picture, exhibit.strip_count, {}));
    return savePng(folder / exhibit.file, strip);
  }
  const std::array times = {exhibit.time_s};
  DERM_CHECK(picture.aimAt(times, {}));
  DERM_TRY(const Rgba8Image image, picture.picture(exhibit.time_s));
  return savePng(folder / exhibit.file, image);
}

}  // namespace

Result<std::vector<DemoPage::Panel>> drawGallery(const std::filesystem::path& folder,
                                                 Diagnostics& notes) {
  std::vector<DemoPage::Panel> out;
  ProgressBar bar("gallery");
  for (const Exhibit& exhibit : kExhibits) {
    bar.callback()(double(out.size()) / double(kExhibits.size()), exhibit.title);
    DERM_CHECK(draw(exhibit, folder, notes));
    out.push_back({.title = std::string(exhibit.title),
                   .text = std::string(exhibit.text),
                   .picture = std::string(exhibit.file)});
  }
  return out;
}

}  // namespace derm::cli
