#pragma once

#include <cstdint>
#include <vector>

#include "derm/image/rgba8_image.h"

namespace derm {

/// A grey picture in memory, a byte per pixel as a camera stores it; rows from top to bottom, no
/// padding. What trackers look at.
struct Grey8Image {
  int width = 0;   ///< [px] >= 0
  int height = 0;  ///< [px] >= 0
  std::vector<std::uint8_t> pixels;

  Grey8Image() = default;
  /// Requires sizes >= 0.
  Grey8Image(int width_px, int height_px, std::uint8_t value = 0);

  bool empty() const { return pixels.empty(); }
  bool operator==(const Grey8Image&) const = default;
};

/// The luma of a picture's stored values (Rec. 601 in fixed point, as cameras and OpenCV weigh
/// them), alpha ignored; `grey` keeps its memory where the size stays.
void toGrey(const Rgba8Image& image, Grey8Image& grey);

}  // namespace derm
