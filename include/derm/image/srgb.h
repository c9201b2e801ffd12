#pragma once

#include "derm/math/vec.h"

namespace derm {

/// The sRGB transfer function (IEC 61966-2-1), both ways: the only one in derm, so that what one
/// part encodes another decodes to the same bits. Computed in double. Input outside [0,1] is
/// clamped.
float linearFromSrgb(float encoded);
float srgbFromLinear(float linear);

/// Alpha has no curve; it is clamped too.
Vec4f linearFromSrgb(const Vec4f& encoded);

/// How stored numbers stand for light, or for something that is no light at all.
enum class Curve {
  Linear,  ///< as they are: normals, heights, masks
  Srgb     ///< colours as screens show them
};

}  // namespace derm
