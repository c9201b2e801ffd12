#include "face/maps/direct_slopes.h"

#include <algorithm>
#include <cmath>

#include "face/maps/height_fit.h"

namespace derm::detail::maps {
namespace {

Plane smoothed(const Plane& ratio, float noise) {
  return blurred(ratio, noise < 0.004f ? 0.0 : noise < 0.012f ? 1.0 : 2.0);
}

Slopes slopesFrom(const Plane& ratio, const Plane& base_z, const Plane& direction,
                  const Plane* fold_sign, float sign) {
  const Plane gx = slopesAcross(direction), gy = slopesDown(direction);
  Slopes out{Plane(ratio.width, ratio.height), Plane(ratio.width, ratio.height)};
  for (std::size_t i = 0; i < ratio.size(); ++i) {
    // Steeper than 80 degrees is a shadow.
    const float z = std::clamp(ratio.values[i] * base_z.values[i], 0.17f, 1.0f);
    const float steep = std::sqrt(1 - z * z) / z, length = std::hypot(gx.values[i], gy.values[i]);
    if (!(length > 0)) continue;
    const float s =
        fold_sign != nullptr && !fold_sign->values.empty() ? sign * fold_sign->values[i] : sign;
    // N_xy = s g / |g| sqrt(1 - N_z^2), and slopes are -N_xy / N_z.
    out.p.values[i] = -s * steep * gx.values[i] / length;
    out.q.values[i] = -s * steep * gy.values[i] / length;
  }
  return out;
}

}  // namespace

Slopes thesisSlopes(const Plane& ratio, const Plane& base_z, float noise) {
  const Plane smooth = smoothed(ratio, noise);
  return slopesFrom(smooth, base_z, smooth, nullptr, 1);
}

Slopes blurSlopes(const Plane& ratio, const Plane& base_z, const Plane& fold_sign, float noise,
                  double blur_px) {
  return slopesFrom(smoothed(ratio, noise), base_z, blurred(ratio, blur_px), &fold_sign, -1);
}

}  // namespace derm::detail::maps
