#pragma once

#include <algorithm>

namespace derm::detail {

/// 0 below `from`, 1 above `to`, smooth between.
inline double smoothStep(double from, double to, double x) {
  const double t = std::clamp((x - from) / (to - from), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

}  // namespace derm::detail
