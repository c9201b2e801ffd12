#pragma once

#include "face/maps/plane.h"

namespace derm::detail::maps {

struct Slopes {
  Plane p, q;  ///< dz/dx, dz/dy; y down
};

/// Normals straight from a ratio at frontal light, pixel by pixel: N'_z = R N_z, its direction from
/// a gradient. `noise` decides how much R is smoothed (0, 1 or 2 px); `base_z` is N_z of the skin.
/// Thesis (eq. 5.8): N'_xy along +grad R. The sign is wrong on the shoulders of a furrow.
Slopes thesisSlopes(const Plane& ratio, const Plane& base_z, float noise);
/// Direction from R blurred by about a fold's width, which is darkest in its middle: against the
/// gradient for furrows (`fold_sign` +1 or empty), along it for bulges (-1).
Slopes blurSlopes(const Plane& ratio, const Plane& base_z, const Plane& fold_sign, float noise,
                  double blur_px);

}  // namespace derm::detail::maps
