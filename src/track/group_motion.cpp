#include "track/group_motion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "derm/math/decompositions.h"

namespace derm::detail {
namespace {

struct Pair {
  Point2 from, to;
  double weight;  ///< by distance
};

/// The best map of weighted pairs. Least squares around the weighted means; of three pairs or more
/// affine, with a little pull towards the similarity so that points on a line do no harm.
PlaneMap fit(std::span<const Pair> pairs, std::span<const double> weights) {
  double sum = 0;
  Point2 a = Point2::Zero(), b = Point2::Zero();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    sum += weights[i];
    a += weights[i] * pairs[i].from;
    b += weights[i] * pairs[i].to;
  }
  PlaneMap out;
  if (!(sum > 0)) return out;
  a /= sum;
  b /= sum;
  Eigen::Matrix2d ff = Eigen::Matrix2d::Zero(), tf = Eigen::Matrix2d::Zero();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Point2 f = pairs[i].from - a, t = pairs[i].to - b;
    ff += weights[i] * f * f.transpose();
    tf += weights[i] * t * f.transpose();
  }
  const double size = ff.trace();
  if (size > 0 && pairs.size() >= 2) {
    // Similarity: the complex number that turns and scales.
    const double re = (tf(0, 0) + tf(1, 1)) / size, im = (tf(1, 0) - tf(0, 1)) / size;
    Eigen::Matrix2d turn;
    turn << re, -im, im, re;
    out.linear = turn;
    if (pairs.size() >= 4) {
      const Eigen::Matrix2d held = ff + 0.05 * size * Eigen::Matrix2d::Identity();
      const Eigen::Matrix2d rest = tf - turn * ff;
      out.linear += solveSymmetric(held, rest.transpose()).transpose();
    }
  }
  out.offset = b - out.linear * a;
  return out;
}

double median(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

MarkerGroup::MarkerGroup(std::span<const Point2> first) : count_(first.size()) {
  const std::size_t others = count_ > 0 ? count_ - 1 : 0;
  nearest_.reserve(count_ * others);
  spacing_.assign(count_, 0.0);
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < count_; ++i) {
    order.clear();
    for (std::size_t j = 0; j < count_; ++j)
      if (j != i) order.push_back(static_cast<std::uint32_t>(j));
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t p, std::uint32_t q) {
      return (first[p] - first[i]).squaredNorm() < (first[q] - first[i]).squaredNorm();
    });
    const std::size_t near = std::min<std::size_t>(3, others);
    for (std::size_t k = 0; k < near; ++k)
      spacing_[i] += (first[order[k]] - first[i]).norm() / static_cast<double>(near);
    for (const std::uint32_t j : order) {
      nearest_.push_back(j);
      distance_.push_back((first[j] - first[i]).norm());
    }
  }
}

bool MarkerGroup::motion(std::size_t marker, std::span<const Point2> from,
                         std::span<const Point2> to, std::span<const std::uint8_t> usable,
                         PlaneMap& out) const {
  std::array<Pair, kNeighbours> pairs;
  std::array<double, kNeighbours> weights{}, errors{}, sorted{};
  std::size_t n = 0;
  const std::size_t others = count_ - 1;
  const double scale = std::max(1.0, spacing_[marker]);
  for (std::size_t k = 0; k < others && n < kNeighbours; ++k) {
    const std::uint32_t j = nearest_[marker * others + k];
    if (usable[j] == 0) continue;
    const double d = distance_[marker * others + k] / scale;
    pairs[n] = {from[j], to[j], 1.0 / (0.25 + d * d)};
    weights[n] = pairs[n].weight;
    ++n;
  }
  if (n == 0) return false;
  const std::span<const Pair> used(pairs.data(), n);
  out = fit(used, std::span(weights.data(), n));
  if (n < 4) return true;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < n; ++i) errors[i] = (out(pairs[i].from) - pairs[i].to).norm();
    std::copy_n(errors.begin(), n, sorted.begin());
    // Never stricter than half a pixel: below that it is noise.
    const double cut = 4.685 * std::max(0.5, 1.4826 * median(std::span(sorted.data(), n)));
    for (std::size_t i = 0; i < n; ++i) {
      const double r = std::min(1.0, errors[i] / cut);
      weights[i] = pairs[i].weight * (1 - r * r) * (1 - r * r);
    }
    out = fit(used, std::span(weights.data(), n));
  }
  return true;
}

}  // namespace derm::detail
