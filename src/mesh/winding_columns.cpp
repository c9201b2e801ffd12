#include "derm/mesh/winding_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace derm {
namespace {

/// Whether (x, y) lies to the left of the edge from a to b, seen from +z. Computed from the smaller
/// to the larger index, so that both triangles of an edge get opposite answers.
bool isLeft(std::uint32_t a, std::uint32_t b, std::span<const Vec3f> p, double x, double y) {
  const bool swap = a > b;
  if (swap) std::swap(a, b);
  const double ax = double{p[a].x()}, ay = double{p[a].y()};
  const double bx = double{p[b].x()}, by = double{p[b].y()};
  const bool left = (bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0;
  return left != swap;
}

/// +1 or -1 where the triangle lies over (x, y), seen counter-clockwise or clockwise from above; 0
/// where it does not. `z`: its height there.
int overColumn(const Triangle& t, std::span<const Vec3f> p, double x, double y, double& z) {
  const bool left = isLeft(t[0], t[1], p, x, y);
  if (isLeft(t[1], t[2], p, x, y) != left || isLeft(t[2], t[0], p, x, y) != left) return 0;
  const Vec3d a = p[t[0]].cast<double>(), b = p[t[1]].cast<double>(), c = p[t[2]].cast<double>();
  const Vec3d u = b - a, v = c - a;
  const double area = u.x() * v.y() - u.y() * v.x();
  if (area == 0) {
    z = std::max({a.z(), b.z(), c.z()});
    return left ? 1 : -1;
  }
  const double qx = x - a.x(), qy = y - a.y();
  const double s = (qx * v.y() - qy * v.x()) / area, r = (u.x() * qy - u.y() * qx) / area;
  z = a.z() + s * u.z() + r * v.z();
  return left ? 1 : -1;
}

}  // namespace

WindingColumns::WindingColumns(std::size_t max_points)
    : points_(max_points), winding_(max_points), order_(max_points), first_(kSide * kSide + 1) {}

bool WindingColumns::add(const Vec3f& point) {
  if (count_ == points_.size()) return false;
  points_[count_++] = point;
  return true;
}

std::span<const std::int32_t> WindingColumns::evaluate(
    std::span<const Vec3f> positions, std::span<const Triangle> triangles) noexcept {
  const auto points = std::span(points_).first(count_);
  std::fill_n(winding_.begin(), count_, 0);
  if (points.empty()) return {};
  float low[2] = {points[0].x(), points[0].y()}, high[2] = {low[0], low[1]};
  for (const Vec3f& p : points)
    for (int k = 0; k < 2; ++k) {
      low[k] = std::min(low[k], p[k]);
      high[k] = std::max(high[k], p[k]);
    }
  const float extent = std::max({high[0] - low[0], high[1] - low[1], 1e-20f});
  const float per_metre = (kSide - 1) / extent;
  const auto column = [&](float value, int k) {
    return std::clamp(static_cast<int>((value - low[k]) * per_metre), 0, kSide - 1);
  };
  std::fill(first_.begin(), first_.end(), 0u);
  const auto cell = [&](const Vec3f& p) {
    return static_cast<std::size_t>(column(p.y(), 1) * kSide + column(p.x(), 0));
  };
  for (const Vec3f& p : points) ++first_[cell(p) + 1];
  for (std::size_t c = 0; c + 1 < first_.size(); ++c) first_[c + 1] += first_[c];
  for (std::size_t i = 0; i < count_; ++i)
    order_[first_[cell(points[i])]++] = static_cast<std::uint32_t>(i);
  for (std::size_t c = first_.size() - 1; c > 0; --c) first_[c] = first_[c - 1];
  first_[0] = 0;

  for (const Triangle& t : triangles) {
    const Vec3f &a = positions[t[0]], &b = positions[t[1]], &c = positions[t[2]];
    const float x0 = std::min({a.x(), b.x(), c.x()}), x1 = std::max({a.x(), b.x(), c.x()});
    if (!(x1 >= low[0] && x0 <= high[0])) continue;
    const float y0 = std::min({a.y(), b.y(), c.y()}), y1 = std::max({a.y(), b.y(), c.y()});
    if (!(y1 >= low[1] && y0 <= high[1])) continue;
    const int cx0 = column(std::max(x0, low[0]), 0), cx1 = column(std::min(x1, high[0]), 0);
    const int cy0 = column(std::max(y0, low[1]), 1), cy1 = column(std::min(y1, high[1]), 1);
    for (int cy = cy0; cy <= cy1; ++cy) {
      const auto row = static_cast<std::size_t>(cy * kSide);
      for (std::uint32_t k = first_[row + static_cast<std::size_t>(cx0)];
           k < first_[row + static_cast<std::size_t>(cx1) + 1]; ++k) {
        const std::uint32_t i = order_[k];
        double z = 0;
        const int sign = overColumn(t, positions, double{points[i].x()}, double{points[i].y()}, z);
        if (sign != 0 && z > double{points[i].z()}) winding_[i] += sign;
      }
    }
  }
  return std::span(winding_).first(count_);
}

void markInside(std::span<const Vec3f> positions, std::span<const Triangle> triangles,
                const Vec3f& origin, float spacing, const std::array<int, 3>& size,
                std::span<std::uint8_t> inside) {
  struct Crossing {
    std::uint32_t column;
    float z;
    int sign;
  };
  std::vector<Crossing> crossings;
  for (const Triangle& t : triangles) {
    const Vec3f &a = positions[t[0]], &b = positions[t[1]], &c = positions[t[2]];
    const auto first = [&](float value, int k) {
      return std::max(0, static_cast<int>(std::floor((value - origin[k]) / spacing)));
    };
    const int x0 = first(std::min({a.x(), b.x(), c.x()}), 0);
    const int y0 = first(std::min({a.y(), b.y(), c.y()}), 1);
    const int x1 = std::min(size[0] - 1, first(std::max({a.x(), b.x(), c.x()}), 0) + 1);
    const int y1 = std::min(size[1] - 1, first(std::max({a.y(), b.y(), c.y()}), 1) + 1);
    for (int y = y0; y <= y1; ++y)
      for (int x = x0; x <= x1; ++x) {
        double z = 0;
        const int sign =
            overColumn(t, positions, double{origin.x() + spacing * static_cast<float>(x)},
                       double{origin.y() + spacing * static_cast<float>(y)}, z);
        if (sign != 0)
          crossings.push_back(
              {static_cast<std::uint32_t>(y * size[0] + x), static_cast<float>(z), sign});
      }
  }
  std::sort(crossings.begin(), crossings.end(), [](const Crossing& a, const Crossing& b) {
    if (a.column != b.column) return a.column < b.column;
    return a.z != b.z ? a.z > b.z : a.sign > b.sign;
  });
  // From the top down.
  const std::size_t layer = static_cast<std::size_t>(size[0]) * static_cast<std::size_t>(size[1]);
  for (std::size_t begin = 0; begin < crossings.size();) {
    std::size_t end = begin;
    while (end < crossings.size() && crossings[end].column == crossings[begin].column) ++end;
    int winding = 0;
    std::size_t k = begin;
    for (int z = size[2]; z-- > 0;) {
      const float height = origin.z() + spacing * static_cast<float>(z);
      for (; k < end && crossings[k].z > height; ++k) winding += crossings[k].sign;
      if (winding >= 1) inside[static_cast<std::size_t>(z) * layer + crossings[begin].column] = 1;
    }
    begin = end;
  }
}

}  // namespace derm
