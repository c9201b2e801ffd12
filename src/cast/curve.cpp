#include "cast/curve.h"

#include <algorithm>
#include <cmath>

#include "derm/base/assert.h"

namespace derm::detail::cast {

Curve::Curve(std::vector<Key> keys, double period) : keys_(std::move(keys)), period_(period) {
  DERM_REQUIRE(!keys_.empty());
  if (period_ > 0) {  // one key more on either side, so that the seam is like everywhere else
    const Key first = keys_.front(), last = keys_.back();
    keys_.insert(keys_.begin(), {last.time - period_, last.value});
    keys_.push_back({first.time + period_, first.value});
  }
  const std::size_t n = keys_.size();
  slopes_.assign(n, 0.0);
  const auto slope = [&](std::size_t i, std::size_t j) {
    return (keys_[j].value - keys_[i].value) / (keys_[j].time - keys_[i].time);
  };
  for (std::size_t i = 0; i < n; ++i) {
    double before = 0, after = 0;
    if (i > 0) before = slope(i - 1, i);
    if (i + 1 < n) after = slope(i, i + 1);
    if (period_ > 0 && (i == 0 || i + 1 == n)) {
      // Keys 0 and n-2 are one key, and so are 1 and n-1.
      if (i == 0) before = slope(n - 3, n - 2);
      if (i + 1 == n) after = slope(1, 2);
    }
    // Harmonic mean: the slope of a monotone cubic (Fritsch and Butland).
    slopes_[i] = before * after > 0 ? 2.0 * before * after / (before + after) : 0.0;
  }
}

Curve& Curve::slopeAt(double time, double slope) {
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < keys_.size(); ++i)
    if (std::abs(keys_[i].time - time) < std::abs(keys_[nearest].time - time)) nearest = i;
  slopes_[nearest] = slope;
  return *this;
}

double Curve::operator()(double time) const {
  if (period_ > 0) time -= period_ * std::floor(time / period_);
  if (time <= keys_.front().time) return keys_.front().value;
  if (time >= keys_.back().time) return keys_.back().value;
  std::size_t i = 0;
  while (keys_[i + 1].time < time) ++i;
  const Key &a = keys_[i], &b = keys_[i + 1];
  const double h = b.time - a.time, t = (time - a.time) / h, s = 1.0 - t;
  return s * s * (1.0 + 2.0 * t) * a.value + t * t * (1.0 + 2.0 * s) * b.value +
         h * s * t * (s * slopes_[i] - t * slopes_[i + 1]);
}

}  // namespace derm::detail::cast
