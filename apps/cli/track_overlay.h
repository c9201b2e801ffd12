#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/image/rgba8_image.h"
#include "derm/io/film.h"
#include "derm/track/marker_tracker.h"

namespace derm::cli {

/// What a tracker sees, drawn on a frame: a ring around every marker with its label, green where it
/// is seen, fading to yellow with confidence, a red cross where it is taken to be; a number in the
/// corner.
void drawMarkers(Rgba8Image& frame, std::span<const std::string> labels,
                 std::span<const Vec3d> positions, std::span<const float> confidence,
                 const std::string& caption);

/// A film of such frames, at the rate of the first two: one that varies is made even by showing
/// frames again or leaving them out.
class OverlayFilm {
 public:
  explicit OverlayFilm(std::filesystem::path file) : file_(std::move(file)) {}

  Result<void> add(Rgba8Image frame, double time_s, Diagnostics& notes);
  Result<FilmResult> finish(Diagnostics& notes);

 private:
  Result<void> open(double fps, const Rgba8Image& frame, Diagnostics& notes);
  Result<void> show(const Rgba8Image& frame, double time_s);

  std::filesystem::path file_;
  std::optional<FilmWriter> film_;
  std::optional<Rgba8Image> first_;  ///< waits for the second
  double start_s_ = 0;
  double fps_ = 30;
  std::size_t shown_ = 0;
};

}  // namespace derm::cli
