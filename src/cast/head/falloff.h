#pragma once

#include <cmath>

#include "derm/math/vec.h"

#include "cast/sculpt.h"

/// Private to room cast: where on the head something is, as a number from 0 to 1.
namespace derm::detail::cast {

/// 1 at x = 0, 1/e at x = +-width.
inline double bell(double x, double width) { return std::exp(-(x / width) * (x / width)); }

/// 0 at `from`, 1 at `to`, whichever is the smaller.
inline double softStep(double from, double to, double x) {
  return from < to ? smoothStep(from, to, x) : 1 - smoothStep(to, from, x);
}

/// The same place on the left side of the face.
inline Vec3d folded(const Vec3d& p) { return {std::abs(p.x()), p.y(), p.z()}; }

}  // namespace derm::detail::cast
