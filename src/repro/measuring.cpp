#include "repro/measuring.h"

#include <algorithm>
#include <chrono>
#include <numbers>
#include <utility>
#include <vector>

#include "derm/image/compose.h"
#include "derm/scene/recipe.h"
#include "derm/view/film_strip.h"

namespace derm::detail::repro {
namespace {

ViewDesc viewOf(const Shot& shot) {
  constexpr double kDegree = std::numbers::pi / 180;
  ViewDesc view = shot.view;
  view.size = {.width = shot.width, .height = shot.height, .supersample = 2};
  view.orbit.yaw_rad = shot.yaw_deg * kDegree;
  view.orbit.pitch_rad = shot.pitch_deg * kDegree;
  view.orbit.zoom = shot.zoom;
  return view;
}

}  // namespace

ReproNumber printed(std::string name, std::string unit, double theirs, double equal_within,
                    double ours) {
  return {.name = std::move(name),
          .unit = std::move(unit),
          .theirs = theirs,
          .ours = ours,
          .equal_within = equal_within};
}

ReproNumber unprinted(std::string name, std::string unit, double ours) {
  return {.name = std::move(name), .unit = std::move(unit), .ours = ours};
}

ReproNumber within(ReproNumber n, double low, double high) {
  n.low = low;
  n.high = high;
  return n;
}

ReproNumber near(ReproNumber n, double wanted, double tolerance) {
  return within(std::move(n), wanted - tolerance, wanted + tolerance);
}

ReproNumber better(ReproNumber n, ReproSense sense) {
  n.better = sense;
  return n;
}

ReproNumber because(ReproNumber n, std::string why) {
  n.because = std::move(why);
  return n;
}

Result<Scene> sceneOf(std::string_view recipe, Diagnostics& notes,
                      std::shared_ptr<const Character> character) {
  DERM_TRY(const Recipe parsed, parseRecipe(recipe, "recipe"));
  return openScene(parsed, {.character = std::move(character)}, notes);
}

Result<Rgba8Image> pictureOf(Scene& scene, const Shot& shot, Diagnostics& notes) {
  DERM_TRY(SceneView view, SceneView::make(scene, viewOf(shot), notes));
  return view.picture(shot.time_s);
}

Result<void> addPicture(ReproResult& result, std::string caption, std::string_view recipe,
                        const Shot& shot, Diagnostics& notes) {
  DERM_TRY(Scene scene, sceneOf(recipe, notes));
  DERM_TRY(Rgba8Image image, pictureOf(scene, shot, notes));
  result.pictures.push_back({.caption = std::move(caption), .image = std::move(image)});
  return {};
}

Result<void> addStrip(ReproResult& result, std::string caption, std::string_view recipe,
                      const Shot& shot, std::size_t instants, Diagnostics& notes) {
  DERM_TRY(Scene scene, sceneOf(recipe, notes));
  ViewDesc following = viewOf(shot);
  following.follow = true;  // or a character that leaps is small in all of them
  DERM_TRY(SceneView view, SceneView::make(scene, following, notes));
  DERM_TRY(Rgba8Image image, drawStrip(view, instants));
  result.pictures.push_back({.caption = std::move(caption), .image = std::move(image)});
  return {};
}

Result<void> addPanels(ReproResult& result, std::string caption, std::span<const Panel> panels,
                       int columns, Diagnostics& notes) {
  std::vector<Rgba8Image> images;
  for (const Panel& panel : panels) {
    DERM_TRY(Scene scene, sceneOf(panel.recipe, notes));
    DERM_TRY(Rgba8Image image, pictureOf(scene, panel.shot, notes));
    images.push_back(std::move(image));
  }
  result.pictures.push_back({.caption = std::move(caption), .image = gridOf(images, columns, 4)});
  return {};
}

double framesPerSecond(Scene& scene) {
  using Clock = std::chrono::steady_clock;
  const std::size_t frames = scene.frameTimes().size();
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    scene.frame(0);  // a seek back, and what only the first frame does
    const Clock::time_point start = Clock::now();
    for (std::size_t f = 0; f < frames; ++f) scene.frame(f);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, static_cast<double>(frames) / std::max(seconds, 1e-9));
  }
  return best;
}

}  // namespace derm::detail::repro
