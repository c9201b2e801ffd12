#include <algorithm>
#include <cmath>
#include <limits>

#include "derm/volume/volume_methods.h"

namespace derm {
namespace {

/// Smallest t > 0 with a + 2 b t + 3 c t^2 = 0, where a > 0; infinity where there is none.
double firstTurn(double a, double b, double c) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const double under = b * b - 3 * a * c;
  if (under < 0) return kNever;
  // a / q is the root that stays finite as c goes to 0, q / 3c the other one.
  const double q = -b - std::copysign(std::sqrt(under), b);
  double best = kNever;
  if (q != 0 && a / q > 0) best = a / q;
  if (c != 0 && q / (3 * c) > 0) best = std::min(best, q / (3 * c));
  return best;
}

}  // namespace

CubicRoot firstCubicRoot(double c1, double c2, double c3, double wanted) noexcept {
  if (wanted == 0) return {};
  // Scaled so that the linearised answer is t = 1 and the way there goes up: f(t) = t + b t^2 + c
  // t^3 with f(t) = 1 to be solved for t > 0.
  const double scale = wanted / c1;
  const double b = c2 * scale / c1, c = c3 * scale * scale / c1;
  if (!std::isfinite(scale) || !std::isfinite(b) || !std::isfinite(c)) return {0, false, 0};
  const double turn = firstTurn(1, b, c);
  const auto value = [&](double t) { return t * (1 + t * (b + t * c)); };
  if (std::isfinite(turn) && value(turn) < 1) return {scale * turn * 0.999, false, 0};

  double low = 0, high = turn;  // the root lies in (low, high]; f rises on it
  if (!std::isfinite(high))
    for (high = 1; value(high) < 1; high *= 2) low = high;
  double t = std::min(1.0, 0.5 * (low + high));
  if (low < 1 && 1 <= high) t = 1;
  CubicRoot out;
  for (; out.iterations < 60; ++out.iterations) {
    const double error = value(t) - 1;
    if (error == 0) break;
    (error < 0 ? low : high) = t;
    const double slope = 1 + t * (2 * b + 3 * t * c);
    double next = t - error / slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const bool settled = std::abs(next - t) <= 1e-15 * std::abs(next);
    t = next;
    if (settled) break;
  }
  out.s = scale * t;
  return out;
}

}  // namespace derm
