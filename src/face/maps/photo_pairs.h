#pragma once

#include <span>
#include <vector>

#include "derm/face/detail_acquisition.h"

#include "face/maps/plane.h"
#include "face/maps/spline_alignment.h"

namespace derm::detail::maps {

/// A photo as it is computed with: reduced by a whole factor.
struct Photo {
  Plane luminance;
  Plane known;  ///< 0 or 1
};

Photo reducedPhoto(const FloatImage& image, int factor);
/// Means of factor x factor values of one channel; a rest at the right and lower border is dropped.
Plane reducedBy(const Plane& plane, int factor);

Result<void> validatePhoto(const FloatImage& image, const std::string& name);

/// The part of a picture that is worked on. [px] of the reduced picture.
struct Window {
  int x = 0, y = 0, width = 0, height = 0;
};
Plane cut(const Plane& plane, const Window& window);

/// Positions of the pixels of a window in another photo: thin plates through the landmarks that
/// both have, or the same position where neither has any. Errors and notes of acquireDetail().
Result<CoarseMap> landmarkMap(std::span<const PhotoLandmark> from,
                              std::span<const PhotoLandmark> to, int factor, const Window& window,
                              const std::string& name, Diagnostics& notes);

}  // namespace derm::detail::maps
