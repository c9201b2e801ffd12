#pragma once

#include "derm/face/detail_acquisition.h"
#include "derm/image/float_image.h"

/// Photos of skin whose shape is known, for figures 5.1 to 5.3 of the face thesis.
namespace derm::detail::repro {

/// Four wavy furrows on 512 × 512 pixels, 4 px deep, as slopes and as a pair of photos of skin with
/// random albedo under a lamp at the camera.
struct FurrowedSkin {
  FloatImage slopes;  ///< two channels: dz/dx, dz/dy, y down
  PhotoPair photos;
};
FurrowedSkin furrowedSkin();

/// Mean angle between two maps of slopes over the pixels of the first that are steeper than 3°.
double meanAngle(const FloatImage& truth, const FloatImage& slopes);

}  // namespace derm::detail::repro
