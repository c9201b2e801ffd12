#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "derm/base/diagnostics.h"
#include "derm/implicit/skin_report.h"
#include "derm/mesh/tri_mesh.h"
#include "derm/render/offscreen_renderer.h"

#include "orbit_options.h"

namespace derm::cli {

/// What `implicit particles` and `implicit morph` share: how the skin behaves, and where it goes.
struct SkinOptions {
  double alpha = 2;
  double beta = 0;
  std::string volume = "none";
  std::string area = "none";
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
  StrategyDesc strategy() const;
};

/// Frames of a skin as they come: kept where something needs all of them, written where they can be
/// on their own.
class SkinSink {
 public:
  /// Fails, before any work, on endings and sizes that cannot be written.
  static Result<SkinSink> open(const SkinOptions& options);

  Result<void> add(ActiveSkin& skin, const SkinStep& last);
  /// Writes film, strip, sequence and report.
  Result<void> finish(const ActiveSkin& skin, Diagnostics& notes);

 private:
  SkinOptions options_;
  PictureSize size_;
  std::vector<TriMesh> frames_;
  std::vector<SkinRecord> records_;
};

}  // namespace derm::cli
