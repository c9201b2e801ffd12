#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace derm::detail {

/// A k-d tree over points of N coordinates: splits at the median of the widest side. Owns a copy of
/// the points; immutable. Of equally near points the one with the smaller index is nearer.
template <int N, class Real = double>
class PointTree {
 public:
  using Point = std::array<Real, N>;
  struct Near {
    Real squared = std::numeric_limits<Real>::infinity();
    std::uint32_t index = 0;
    bool operator<(const Near& other) const {
      return squared < other.squared || (squared == other.squared && index < other.index);
    }
  };

  PointTree() = default;
  explicit PointTree(std::vector<Point> points) : points_(std::move(points)) {
    order_.resize(points_.size());
    std::iota(order_.begin(), order_.end(), 0u);
    if (!points_.empty()) split(0, static_cast<std::uint32_t>(points_.size()));
    std::vector<Point> sorted(points_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) sorted[i] = points_[order_[i]];
    points_ = std::move(sorted);
  }

  std::size_t size() const { return points_.size(); }

  /// The nearest point; requires that there is one.
  Near nearest(const Point& p) const {
    Near best;
    visit(0, p, best.squared, [&](std::uint32_t entry, Real squared) {
      const Near near{squared, order_[entry]};
      if (near < best) best = near;
      return best.squared;
    });
    return best;
  }

  /// Up to `count` nearest points within a distance, nearest first, into `found`.
  void nearest(const Point& p, std::size_t count, Real max_squared,
               std::vector<Near>& found) const {
    found.clear();
    if (points_.empty() || count == 0) return;
    visit(0, p, max_squared, [&](std::uint32_t entry, Real squared) {
      const Near near{squared, order_[entry]};
      if (found.size() < count) {
        if (squared > max_squared) return max_squared;
        found.push_back(near);
        std::push_heap(found.begin(), found.end());
      } else if (near < found.front()) {
        std::pop_heap(found.begin(), found.end());
        found.back() = near;
        std::push_heap(found.begin(), found.end());
      }
      return found.size() < count ? max_squared : found.front().squared;
    });
    std::sort_heap(found.begin(), found.end());
  }

 private:
  static constexpr std::uint32_t kLeaf = 8;
  struct Node {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t right = 0;  ///< 0 for a leaf; the left child is next
    int axis = 0;
    Real low = 0;   ///< largest coordinate of the left child
    Real high = 0;  ///< smallest of the right one
  };

  std::uint32_t split(std::uint32_t first, std::uint32_t last) {
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({first, last, 0, 0, 0, 0});
    if (last - first <= kLeaf) return node;
    Point low = points_[order_[first]];
    Point high = low;
    for (std::uint32_t i = first + 1; i < last; ++i)
      for (std::size_t k = 0; k < N; ++k) {
        low[k] = std::min(low[k], points_[order_[i]][k]);
        high[k] = std::max(high[k], points_[order_[i]][k]);
      }
    std::size_t axis = 0;
    for (std::size_t k = 1; k < N; ++k)
      if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    const std::uint32_t middle = first + (last - first) / 2;
    std::nth_element(
        order_.begin() + first, order_.begin() + middle, order_.begin() + last,
        [&](std::uint32_t a, std::uint32_t b) {
          return points_[a][axis] != points_[b][axis] ? points_[a][axis] < points_[b][axis] : a < b;
        });
    Real left = low[axis];
    for (std::uint32_t i = first; i < middle; ++i) left = std::max(left, points_[order_[i]][axis]);
    nodes_[node].axis = static_cast<int>(axis);
    nodes_[node].low = left;
    nodes_[node].high = points_[order_[middle]][axis];
    split(first, middle);
    const std::uint32_t right = split(middle, last);
    nodes_[node].right = right;
    return node;
  }

  /// `offer(entry, squared distance)` gives the new limit.
  template <class Offer>
  void visit(std::uint32_t root, const Point& p, Real limit, const Offer& offer) const {
    struct Entry {
      std::uint32_t node;
      Real squared;
    };
    std::array<Entry, 64> stack;
    std::size_t depth = 0;
    if (nodes_.empty()) return;
    stack[depth++] = {root, 0};
    while (depth > 0) {
      const Entry entry = stack[--depth];
      if (entry.squared > limit) continue;
      std::uint32_t at = entry.node;
      while (nodes_[at].right != 0) {
        const Node& node = nodes_[at];
        const Real c = p[static_cast<std::size_t>(node.axis)];
        const Real to_left = c - node.low;
        const Real to_right = node.high - c;
        std::uint32_t near = at + 1;
        std::uint32_t far = node.right;
        Real gap = to_right;
        if (to_left > to_right) {
          std::swap(near, far);
          gap = to_left;
        }
        const Real squared = gap > 0 ? gap * gap : 0;
        if (squared <= limit) stack[depth++] = {far, std::max(squared, entry.squared)};
        at = near;
      }
      for (std::uint32_t i = nodes_[at].first; i < nodes_[at].last; ++i) {
        Real squared = 0;
        for (std::size_t k = 0; k < N; ++k) {
          const Real d = points_[i][k] - p[k];
          squared += d * d;
        }
        if (squared <= limit) limit = offer(i, squared);
      }
    }
  }

  std::vector<Point> points_;         ///< in the tree's order
  std::vector<std::uint32_t> order_;  ///< index before sorting
  std::vector<Node> nodes_;
};

}  // namespace derm::detail
