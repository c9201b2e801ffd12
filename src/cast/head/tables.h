#pragma once

#include <cstddef>
#include <vector>

namespace derm::detail::cast {

/// Piecewise linear between the knots of a table, whose `at` increases; constant beyond its ends.
template <class Knot, class Value>
Value interpolated(const std::vector<Knot>& knots, double x, double Knot::*at, Value Knot::*value) {
  if (x <= knots.front().*at) return knots.front().*value;
  for (std::size_t i = 1; i < knots.size(); ++i) {
    if (x > knots[i].*at) continue;
    const double share = (x - knots[i - 1].*at) / (knots[i].*at - knots[i - 1].*at);
    return knots[i - 1].*value + share * (knots[i].*value - knots[i - 1].*value);
  }
  return knots.back().*value;
}

}  // namespace derm::detail::cast
