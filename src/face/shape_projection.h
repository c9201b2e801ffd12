#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace derm::detail {

/// The nearest x for which sum_i rows[k][i] x_i >= limits[k] for all k; in place. By Hildreth's
/// method (1957), which comes to the nearest point and not only to a permitted one: so what it
/// gives does not move farther than what it was given, and jitter does not grow. Where no x meets
/// all limits the last round's stands. `rows`: limits x variables numbers; `multipliers`: room for
/// as many numbers as limits. Stops when no limit is missed by more than `tolerance`, or after 400
/// rounds.
inline void projectOntoLimits(std::span<double> x, std::span<const double> rows,
                              std::span<const double> limits, std::span<double> multipliers,
                              double tolerance) noexcept {
  const std::size_t n = x.size();
  std::fill(multipliers.begin(), multipliers.end(), 0.0);
  for (int round = 0; round < 400; ++round) {
    double worst = 0;
    for (std::size_t k = 0; k < limits.size(); ++k) {
      const double* row = rows.data() + k * n;
      double value = 0, squared = 0;
      for (std::size_t i = 0; i < n; ++i) {
        value += row[i] * x[i];
        squared += row[i] * row[i];
      }
      if (!(squared > 0)) continue;
      // A limit that another one has made idle gives back what it pushed.
      const double push = std::max((limits[k] - value) / squared, -multipliers[k]);
      multipliers[k] += push;
      for (std::size_t i = 0; i < n; ++i) x[i] += push * row[i];
      worst = std::max(worst, std::max(limits[k] - value, push < 0 ? -push * squared : 0.0));
    }
    if (worst <= tolerance) return;
  }
}

}  // namespace derm::detail
