#pragma once

#include <optional>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/image/float_image.h"
#include "derm/math/vec.h"

namespace derm {

/// Where the one lamp of a photo stands, seen from the face: (0, 0) is at the camera, (0, 30) is 30
/// degrees above it, (30, 0) as far to the picture's right.
struct PhotoLight {
  double azimuth_deg = 0;    ///< (-90,90)
  double elevation_deg = 0;  ///< (-90,90)

  bool operator==(const PhotoLight&) const = default;
};

/// Unit vector towards the light: x to the picture's right, y up, z to the camera.
Vec3d directionOf(const PhotoLight& light);
/// The way back. Requires a direction with z > 0.
PhotoLight lightFrom(const Vec3d& direction);
/// Both angles finite and less than 85 degrees, and the light in front of the face.
Result<void> validate(const PhotoLight& light);

struct LightEstimate {
  PhotoLight light;
  double ambient = 0;   ///< [0,1] share of the brightness that comes from everywhere
  double residual = 0;  ///< relative deviation of the photo from the model: large = do not trust
  std::size_t pixels = 0;
};

/// The light of a photo whose surface is known (a head mesh fitted to it, drawn as normals), for
/// skin of one colour: least squares of I = ambient + b N.L over the pixels of the mask, freckles,
/// highlights and shadows left out by iterated weights. `luminance` has one channel, `normals`
/// three (x right, y up, z to the camera; zero = no surface), `mask` one or is empty. Errors: sizes
/// differ, fewer than 100 pixels, normals that all look the same way, a light from behind.
Result<LightEstimate> estimateLight(const FloatImage& luminance, const FloatImage& normals,
                                    const FloatImage& mask);

}  // namespace derm
