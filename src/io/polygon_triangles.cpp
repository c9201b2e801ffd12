#include "io/polygon_triangles.h"

#include <algorithm>
#include <cmath>

namespace derm::detail {
namespace {

template <class P>
double cross(const P& a, const P& b, const P& c) {
  return (b.u - a.u) * (c.v - a.v) - (b.v - a.v) * (c.u - a.u);
}

void fan(std::uint32_t n, std::vector<Triangle>& out) {
  for (std::uint32_t i = 1; i + 1 < n; ++i) out.push_back({0, i, i + 1});
}

/// How often a closed walk changes direction along one axis; a convex outline does so twice.
struct DirectionChanges {
  int count = 0;
  double first = 0;
  double last = 0;
  void add(double step) {
    if (step == 0) return;
    if (first == 0) first = step;
    if (last != 0 && (step > 0) != (last > 0)) ++count;
    last = step;
  }
  int closed() const { return count + (first != 0 && (first > 0) != (last > 0)); }
};

}  // namespace

void PolygonTriangulator::triangulate(std::span<const Vec3f> corners, std::vector<Triangle>& out) {
  DERM_REQUIRE(corners.size() >= 3);
  const auto n = static_cast<std::uint32_t>(corners.size());
  if (n == 3 || !project(corners) || strictlyConvex())
    fan(n, out);
  else
    clipEars(out);
}

/// False for an outline without area, which no plane fits.
bool PolygonTriangulator::project(std::span<const Vec3f> corners) {
  const Vec3d origin = corners[0].cast<double>();
  Vec3d normal = Vec3d::Zero();
  double longest = 0;
  Vec3d a = corners.back().cast<double>() - origin;
  for (const Vec3f& corner : corners) {
    const Vec3d b = corner.cast<double>() - origin;
    normal += a.cross(b);
    longest = std::max(longest, b.squaredNorm());
    a = b;
  }
  int axis = 0;
  const double size = normal.cwiseAbs().maxCoeff(&axis);
  if (!(size > 1e-12 * longest)) return false;
  const int u = (axis + 1) % 3;
  const int v = (axis + 2) % 3;
  const double mirror = normal[axis] < 0 ? -1.0 : 1.0;  // makes the outline counter-clockwise
  points_.clear();
  for (const Vec3f& corner : corners) {
    const Vec3d p = corner.cast<double>() - origin;
    points_.push_back({mirror * p[u], p[v]});
  }
  return true;
}

bool PolygonTriangulator::strictlyConvex() const {
  const std::size_t n = points_.size();
  DirectionChanges along_u, along_v;
  for (std::size_t i = 0; i < n; ++i) {
    const Point& a = points_[i];
    const Point& b = points_[(i + 1) % n];
    if (!(cross(a, b, points_[(i + 2) % n]) > 0)) return false;
    along_u.add(b.u - a.u);
    along_v.add(b.v - a.v);
  }
  // An outline that turns left everywhere may still go round twice (a pentagram).
  return along_u.closed() <= 2 && along_v.closed() <= 2;
}

double PolygonTriangulator::turn(std::uint32_t corner) const {
  return cross(points_[previous_[corner]], points_[corner], points_[next_[corner]]);
}

void PolygonTriangulator::remove(std::uint32_t corner) {
  next_[previous_[corner]] = next_[corner];
  previous_[next_[corner]] = previous_[corner];
  gone_[corner] = true;
  if (!concave_at_start_[corner] || 2 * ++gone_concave_ < concave_.size()) return;
  std::erase_if(concave_, [&](std::uint32_t c) { return gone_[c]; });
  gone_concave_ = 0;
}

bool PolygonTriangulator::isEar(std::uint32_t corner) {
  tests_left_ -= std::min<std::uint64_t>(tests_left_, 1);
  if (!(turn(corner) > 0)) return false;
  const std::uint32_t before = previous_[corner];
  const std::uint32_t after = next_[corner];
  const Point& a = points_[before];
  const Point& b = points_[corner];
  const Point& c = points_[after];
  // Corners at the very position of a, b or c are the other side of a bridge, not inside.
  const auto atCorner = [&](const Point& p) {
    return (p.u == a.u && p.v == a.v) || (p.u == b.u && p.v == b.v) || (p.u == c.u && p.v == c.v);
  };
  std::size_t tested = 0;
  const bool blocked = std::any_of(concave_.begin(), concave_.end(), [&](std::uint32_t other) {
    ++tested;
    if (gone_[other] || other == before || other == corner || other == after) return false;
    const Point& p = points_[other];
    return cross(a, b, p) >= 0 && cross(b, c, p) >= 0 && cross(c, a, p) >= 0 && !atCorner(p);
  });
  tests_left_ -= std::min<std::uint64_t>(tests_left_, tested);
  return !blocked;
}

std::uint32_t PolygonTriangulator::leastBadCorner(std::uint32_t start) const {
  std::uint32_t convex = start;
  bool found = false;
  std::uint32_t corner = start;
  do {
    const double t = turn(corner);
    if (t == 0) return corner;
    if (t > 0 && !found) {
      convex = corner;
      found = true;
    }
    corner = next_[corner];
  } while (corner != start);
  return convex;
}

void PolygonTriangulator::clipEars(std::vector<Triangle>& out) {
  const auto n = static_cast<std::uint32_t>(points_.size());
  previous_.resize(n);
  next_.resize(n);
  gone_.assign(n, false);
  concave_at_start_.assign(n, false);
  concave_.clear();
  gone_concave_ = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    previous_[i] = i == 0 ? n - 1 : i - 1;
    next_[i] = i + 1 == n ? 0 : i + 1;
  }
  // Clipping never makes a convex corner of a simple outline concave, so no more come later.
  for (std::uint32_t i = 0; i < n; ++i) {
    if (turn(i) > 0) continue;
    concave_.push_back(i);
    concave_at_start_[i] = true;
  }
  std::uint32_t corner = 1;
  std::uint32_t refused = 0;
  for (std::uint32_t left = n; left >= 3;) {
    bool cut = left == 3 || tests_left_ == 0 || isEar(corner);
    if (!cut && ++refused >= left) {
      corner = leastBadCorner(corner);
      cut = true;
    }
    const std::uint32_t after = next_[corner];
    if (cut) {
      out.push_back({previous_[corner], corner, after});
      remove(corner);
      refused = 0;
      --left;
    }
    corner = after;
  }
  if (tests_left_ == 0) ++blindly_cut_;
}

}  // namespace derm::detail
