#include "deform/fold_profile.h"

#include <algorithm>
#include <cmath>

namespace derm::detail {
namespace {

/// Flanks narrower than this share of their height stand upright.
constexpr double kUpright = 1e-9;
constexpr int kNewtonSteps = 40;

/// What a straight flank is longer by than its ground, without cancellation.
double straightExcess(double height, double width) {
  const double slope = std::hypot(width, height);
  return slope + width > 0 ? height * height / (slope + width) : 0;
}

/// Two parabolas, level at both ends, with the slope 2 h / w where they meet half-way:
/// length = w / 2 (sqrt(1 + s^2) + asinh(s) / s).
double roundExcess(double height, double width) {
  if (width <= kUpright * height) return height - width;
  const double s = 2 * height / width;
  if (s < 1e-2) return width * s * s * (1.0 / 6 - s * s / 40);  // no cancellation
  return width * ((std::sqrt(1 + s * s) + std::asinh(s) / s) / 2 - 1);
}

/// d roundExcess / d height.
double roundExcessSlope(double height, double width) {
  if (width <= kUpright * height) return 1;
  const double s = 2 * height / width;
  if (s < 1e-2) return 2 * s / 3;
  return (std::sqrt(1 + s * s) - std::asinh(s) / s) / s;
}

/// Apex over the ground so that both flanks together are longer by `gain`:
/// a = w1 + u, u = g (2 w2 + g) / (2 (w1 + w2 + g)), h^2 = a^2 - w1^2.
double straightHeight(double gain, const Flanks& f) {
  const double way = f.left + f.right + gain;
  if (!(way > 0)) return 0;
  const double u = gain * (2 * f.right + gain) / (2 * way);
  return std::sqrt(std::max(0.0, u * (2 * f.left + u)));
}

}  // namespace

double bumpGain(FoldProfile profile, double height, const Flanks& flanks) {
  const auto excess = profile == FoldProfile::Round ? roundExcess : straightExcess;
  return excess(height, flanks.left) + excess(height, flanks.right);
}

double bumpHeight(FoldProfile profile, double gain, const Flanks& flanks) {
  if (!(gain > 0)) return 0;
  double h = straightHeight(gain, flanks);
  if (profile == FoldProfile::Straight) return h;
  // A round flank of the same height is longer, and its length convex: Newton comes down to the
  // root from above and never passes it.
  for (int i = 0; i < kNewtonSteps; ++i) {
    const double slope = roundExcessSlope(h, flanks.left) + roundExcessSlope(h, flanks.right);
    const double step = (bumpGain(profile, h, flanks) - gain) / std::max(slope, 1e-300);
    if (!(step > 1e-15 * h)) break;
    h = std::max(h - step, 0.0);
  }
  return h;
}

double heightOverSegment(double gain, double dx, double dy) {
  const double base = std::hypot(dx, dy);
  const double a = (base + gain) / 2;
  if (!(base > 0)) return a;
  const double b2 = gain * base / 2 + gain * gain / 4;
  if (!(b2 > 0)) return 0;
  const double sine = dy / base;
  const double cosine = dx / base;
  return 1 / std::sqrt(sine * sine / (a * a) + cosine * cosine / b2);
}

double gainOverSegment(double height, double dx, double dy) {
  return std::max(0.0, std::hypot(dx / 2, dy / 2 + height) + std::hypot(dx / 2, height - dy / 2) -
                           std::hypot(dx, dy));
}

}  // namespace derm::detail
