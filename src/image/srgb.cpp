#include "derm/image/srgb.h"

#include <algorithm>
#include <cmath>

namespace derm {

float linearFromSrgb(float encoded) {
  const double e = std::clamp(static_cast<double>(encoded), 0.0, 1.0);
  return static_cast<float>(e <= 0.04045 ? e / 12.92 : std::pow((e + 0.055) / 1.055, 2.4));
}

float srgbFromLinear(float linear) {
  const double c = std::clamp(static_cast<double>(linear), 0.0, 1.0);
  return static_cast<float>(c <= 0.0031308 ? c * 12.92 : 1.055 * std::pow(c, 1 / 2.4) - 0.055);
}

Vec4f linearFromSrgb(const Vec4f& encoded) {
  return {linearFromSrgb(encoded[0]), linearFromSrgb(encoded[1]), linearFromSrgb(encoded[2]),
          std::clamp(encoded[3], 0.0f, 1.0f)};
}

}  // namespace derm
