#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "derm/base/diagnostics.h"
#include "derm/implicit/skin_report.h"
#include "derm/mesh/level_set_blocks.h"
#include "derm/mesh/tri_mesh.h"
#include "derm/render/offscreen_renderer.h"

#include "orbit_options.h"

namespace derm::cli {

/// A share over time, "0:1,2:0.5": straight between its keys, constant before and after them.
struct ShareOverTime {
  std::vector<std::pair<double, double>> keys;  ///< [s], share > 0; empty = 1

  /// Errors name `option`.
  static Result<ShareOverTime> parse(const std::string& text, const char* option);
  double at(double time_s) const;
};

/// What `implicit particles`, `implicit morph` and `implicit grids` share: how the skin behaves,
/// and where it goes.
struct SkinOptions {
  double alpha = 2;
  double beta = 0;
  std::string volume = "none";
  std::string area = "none";
  double volume_gain = 1;     ///< [m/s] of a penalty
  double area_gain = 1;       ///< [m/s]
  std::string wanted_volume;  ///< empty = as at the start; a share over time
  std::string wanted_area;
  bool inertia = false;
  std::optional<double> stiffness;     ///< [1/s^2] absent = from the attraction
  std::optional<double> damping;       ///< [1/s]
  std::optional<double> wave_tension;  ///< [m^2/s^2]
  std::string evaluation = "points";
  int super_steps = 1;
  double max_memory_gb = 4;
  double fps = 30;
  std::string output;
  std::string film;
  std::string strip;
  std::size_t instants = 8;  ///< of a strip
  std::string size = "1280x720";
  OrbitOptions orbit;
  std::string report;

  void addTo(CLI::App& verb);
  /// Without tension, which is in other units for each verb.
  EvolutionLaw law() const;
  /// Forces instead of speeds, where asked for: a spring as quick as the attraction that `law` has.
  void addInertia(EvolutionLaw& law) const;
};

/// Frames of a skin as they come: kept where something needs all of them, written where they can be
/// on their own.
class SkinSink {
 public:
  /// Fails, before any work, on endings and sizes that cannot be written, and on names that have
  /// {frame} where it means nothing or lack it where `one_frame` is not all there is.
  static Result<SkinSink> open(const SkinOptions& options, bool one_frame = false);

  /// `digits` stand for {frame} in the name of the output; without them frames are counted from 0.
  Result<void> add(ActiveSkin& skin, const SkinStep& last, const std::string& digits = {});
  /// A frame without matter.
  Result<void> addEmpty(double voxel_m, const std::string& digits);
  /// Keeps the events of a skin that ends here; the next one starts with the next frame.
  void close(const ActiveSkin& skin);
  /// Writes film, strip, sequence and report.
  Result<void> finish(Diagnostics& notes);

 private:
  /// Whether each frame goes into a file of its own, at once.
  bool byFrame() const;
  Result<void> store(TriMesh mesh, const LevelSetBlocks* level_set, const std::string& digits);
  void noteCavities(Diagnostics& notes) const;

  SkinOptions options_;
  PictureSize size_;
  std::vector<TriMesh> frames_;
  std::vector<SkinRecord> records_;
  std::vector<SkinEvent> events_;
  std::size_t first_of_skin_ = 0;  ///< frame that the skin at hand began with
  bool one_frame_ = false;
};

}  // namespace derm::cli
