#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/repro/exhibit.h"
#include "derm/scene/scene.h"
#include "derm/view/scene_view.h"

/// What exhibits are put together from.
namespace derm::detail::repro {

inline constexpr double kNoEnd = std::numeric_limits<double>::infinity();  ///< of a range

/// A number that the document prints; ours is equal to it within `equal_within`.
ReproNumber printed(std::string name, std::string unit, double theirs, double equal_within,
                    double ours);
/// One that it does not print, or that is none of its own.
ReproNumber unprinted(std::string name, std::string unit, double ours);
/// The range that ours must lie in.
ReproNumber within(ReproNumber n, double low, double high);
ReproNumber near(ReproNumber n, double wanted, double tolerance);
ReproNumber better(ReproNumber n, ReproSense sense);
ReproNumber because(ReproNumber n, std::string why);

/// For figures that are pictures alone.
inline Result<void> noNumbers(ReproResult&, Diagnostics&) { return {}; }

/// A recipe's text at work; `character`, where given, instead of the one that it names.
Result<Scene> sceneOf(std::string_view recipe, Diagnostics& notes,
                      std::shared_ptr<const Character> character = {});

/// How a picture is taken; angles in degrees.
struct Shot {
  double time_s = 0;
  double yaw_deg = 30, pitch_deg = 10, zoom = 1;
  int width = 480, height = 360;
  ViewDesc view = {};  ///< everything but size and orbit
};
Result<Rgba8Image> pictureOf(Scene& scene, const Shot& shot, Diagnostics& notes);
Result<void> addPicture(ReproResult& result, std::string caption, std::string_view recipe,
                        const Shot& shot, Diagnostics& notes);
/// Several instants in one picture.
Result<void> addStrip(ReproResult& result, std::string caption, std::string_view recipe,
                      const Shot& shot, std::size_t instants, Diagnostics& notes);

struct Panel {
  std::string recipe;
  Shot shot;
};
/// Pictures in rows of `columns`, with one caption.
Result<void> addPanels(ReproResult& result, std::string caption, std::span<const Panel> panels,
                       int columns, Diagnostics& notes);

/// [frames/s] that the scene is played at, without drawing: the best of three rounds of its frames.
double framesPerSecond(Scene& scene);

}  // namespace derm::detail::repro
