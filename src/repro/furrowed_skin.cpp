#include "repro/furrowed_skin.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "derm/base/rng.h"

namespace derm::detail::repro {

FurrowedSkin furrowedSkin() {
  constexpr int kSize = 512;
  constexpr double kSigma = 6, kDepth = 4;
  FurrowedSkin out;
  out.slopes = FloatImage(kSize, kSize, 2);
  out.photos.neutral = out.photos.expression = FloatImage(kSize, kSize, 1);
  Rng rng(7);
  for (int y = 0; y < kSize; ++y)
    for (int x = 0; x < kSize; ++x) {
      double p = 0, q = 0;
      for (int k = 0; k < 4; ++k) {
        const double wave = x / 70.0 + k, across = (y - 140 - 70 * k - 8 * std::sin(wave)) / kSigma;
        const double along = (x - 256) / 110.0;
        const double z = -kDepth * std::exp(-0.5 * (along * along + across * across));
        p += z * (-along / 110 + across * 8 * std::cos(wave) / (70 * kSigma));
        q += z * -across / kSigma;
      }
      out.slopes.at(x, y, 0) = static_cast<float>(p);
      out.slopes.at(x, y, 1) = static_cast<float>(q);
      const double albedo = rng.uniform(0.35, 0.8);
      out.photos.neutral.at(x, y, 0) = static_cast<float>(albedo);
      out.photos.expression.at(x, y, 0) = static_cast<float>(albedo / std::sqrt(1 + p * p + q * q));
    }
  return out;
}

double meanAngle(const FloatImage& truth, const FloatImage& slopes) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i + 1 < truth.values.size(); i += 2) {
    const double p = double{truth.values[i]}, q = double{truth.values[i + 1]};
    const double a = double{slopes.values[i]}, b = double{slopes.values[i + 1]};
    constexpr double kDegrees = 180 / std::numbers::pi;
    if (std::atan(std::hypot(p, q)) * kDegrees <= 3) continue;
    const double cosine =
        (1 + p * a + q * b) / std::sqrt((1 + p * p + q * q) * (1 + a * a + b * b));
    sum += std::acos(std::min(1.0, cosine)) * kDegrees;
    count += 1;
  }
  return sum / std::max(1.0, count);
}

}  // namespace derm::detail::repro
