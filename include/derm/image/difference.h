#pragma once

#include <cstddef>

#include "derm/base/result.h"
#include "derm/image/rgba8_image.h"

namespace derm {

/// How two pictures of one thing are held against each other. Drivers differ in where exactly an
/// edge falls, by a fraction of a pixel; the eye does not see that, a per-pixel test does. So the
/// signed difference is blurred first: an edge shifted within the blur cancels out, a changed
/// colour, a missing part or a moved shape does not.
struct DifferenceDesc {
  int blur_radius_px = 2;  ///< [px] box blur of 2r+1 squared, done twice; 0 = per pixel
  int tolerance = 6;       ///< [0,255] sRGB steps from which a pixel counts as different
};

struct ImageDifference {
  int largest = 0;        ///< [0,255] over all pixels and channels (alpha too)
  double mean = 0;        ///< [0,255] over all pixels of the largest channel
  std::size_t over = 0;   ///< pixels above the tolerance
  double over_share = 0;  ///< [0,1] of all pixels
  Rgba8Image picture;     ///< grey picture of `a`, differences laid over it in red
};

/// The error says so where the sizes differ. Equal pictures have all numbers 0.
Result<ImageDifference> compareImages(const Rgba8Image& a, const Rgba8Image& b,
                                      const DifferenceDesc& desc = {});

}  // namespace derm
