#include "derm/mesh/triangle_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace derm {
namespace {

constexpr std::uint32_t kLeafTriangles = 4;
/// Median splits halve the count, so 32-bit counts cannot go deeper than this.
constexpr std::size_t kMaxDepth = 64;

template <class Vec>
std::array<Vec3d, 3> cornersOf(std::span<const Vec> positions, const Triangle& t) {
  DERM_ASSERT(t[0] < positions.size() && t[1] < positions.size() && t[2] < positions.size());
  return {positions[t[0]].template cast<double>(), positions[t[1]].template cast<double>(),
          positions[t[2]].template cast<double>()};
}

double squaredDistanceToBox(const Vec3d& p, const Vec3d& low, const Vec3d& high) {
  const Vec3d outside = (low - p).cwiseMax(p - high).cwiseMax(0.0);
  return outside.squaredNorm();
}

/// Does the part [0, t_end] of the segment touch the box?
bool segmentTouchesBox(const Vec3d& from, const Vec3d& step, double t_end, const Vec3d& low,
                       const Vec3d& high) {
  double enter = 0;
  double leave = t_end;
  for (int axis = 0; axis < 3; ++axis) {
    if (step[axis] == 0) {
      if (from[axis] < low[axis] || from[axis] > high[axis]) return false;
      continue;
    }
    double t0 = (low[axis] - from[axis]) / step[axis];
    double t1 = (high[axis] - from[axis]) / step[axis];
    if (t0 > t1) std::swap(t0, t1);
    enter = std::max(enter, t0);
    leave = std::min(leave, t1);
    if (enter > leave) return false;
  }
  return true;
}

struct Crossing {
  double t = 0;
  Vec3d barycentric = Vec3d::Zero();
};

/// Signed volumes decide. The one of an edge is exactly the negative of its reverse's, so of two
/// triangles at an edge at least one is hit: no gaps.
std::optional<Crossing> crossing(const Vec3d& from, const Vec3d& to,
                                 const std::array<Vec3d, 3>& corner, double clearance) {
  const Vec3d a = corner[0] - from;
  const Vec3d b = corner[1] - from;
  const Vec3d c = corner[2] - from;
  const Vec3d normal = Vec3d(b - a).cross(Vec3d(c - a));
  const double size = normal.norm();
  const Vec3d step = to - from;
  const double before = -normal.dot(a);
  const double after = before + normal.dot(step);
  if (!(size > 0) || before == after) return std::nullopt;
  const double min = clearance * size;
  const bool through = (before <= -min && after >= min) || (before >= min && after <= -min);
  if (!through) return std::nullopt;
  const double u = step.dot(b.cross(c));
  const double v = step.dot(c.cross(a));
  const double w = step.dot(a.cross(b));
  const bool inside = (u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0);
  const double sum = u + v + w;
  if (!inside || sum == 0) return std::nullopt;
  return Crossing{std::clamp(before / (before - after), 0.0, 1.0), Vec3d(u, v, w) / sum};
}

}  // namespace

double closestOnSegment(const Vec3d& p, const Vec3d& a, const Vec3d& b) {
  const Vec3d along = b - a;
  const double squared = along.squaredNorm();
  return squared > 0 ? std::clamp(along.dot(p - a) / squared, 0.0, 1.0) : 0.0;
}

Vec3d closestOnTriangle(const Vec3d& p, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d ab = b - a;
  const Vec3d ac = c - a;
  const Vec3d normal = ab.cross(ac);
  const double squared = normal.squaredNorm();
  const double longest = std::max(ab.squaredNorm(), ac.squaredNorm());
  if (squared > 1e-24 * longest * longest) {
    const Vec3d ap = p - a;
    const double v = normal.dot(ap.cross(ac)) / squared;
    const double w = normal.dot(ab.cross(ap)) / squared;
    if (v >= 0 && w >= 0 && v + w <= 1) return {1 - v - w, v, w};
  }
  // Outside the prism over the triangle, or no area: the nearest point is on an edge.
  const std::array<Vec3d, 3> corner = {a, b, c};
  Vec3d best = Vec3d::Unit(0);
  double best_squared = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    const double t = closestOnSegment(p, corner[i], corner[j]);
    const double distance = (corner[i] + t * (corner[j] - corner[i]) - p).squaredNorm();
    if (distance >= best_squared) continue;
    best_squared = distance;
    best = (1 - t) * Vec3d::Unit(i) + t * Vec3d::Unit(j);
  }
  return best;
}

TriangleTree::TriangleTree(std::span<const Vec3d> positions, std::span<const Triangle> triangles)
    : triangles_(triangles.begin(), triangles.end()) {
  corners_.reserve(triangles.size());
  for (const Triangle& t : triangles) corners_.push_back(cornersOf(positions, t));
  build();
}

TriangleTree::TriangleTree(std::span<const Vec3f> positions, std::span<const Triangle> triangles)
    : triangles_(triangles.begin(), triangles.end()) {
  corners_.reserve(triangles.size());
  for (const Triangle& t : triangles) corners_.push_back(cornersOf(positions, t));
  build();
}

void TriangleTree::build() {
  if (triangles_.empty()) return;
  order_.resize(triangles_.size());
  std::iota(order_.begin(), order_.end(), 0u);
  std::vector<Vec3d> centres;
  centres.reserve(corners_.size());
  for (const Corners& c : corners_) centres.push_back((c[0] + c[1] + c[2]) / 3.0);
  nodes_.reserve(2 * triangles_.size() / kLeafTriangles + 1);
  nodes_.emplace_back();
  split(0, 0, static_cast<std::uint32_t>(order_.size()), centres);
}

void TriangleTree::split(std::uint32_t node, std::uint32_t first, std::uint32_t last,
                         std::span<const Vec3d> centres) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Vec3d low = Vec3d::Constant(kInfinity), high = Vec3d::Constant(-kInfinity);
  Vec3d centre_low = low, centre_high = high;
  for (std::uint32_t i = first; i < last; ++i) {
    for (const Vec3d& p : corners_[order_[i]]) {
      low = low.cwiseMin(p);
      high = high.cwiseMax(p);
    }
    centre_low = centre_low.cwiseMin(centres[order_[i]]);
    centre_high = centre_high.cwiseMax(centres[order_[i]]);
  }
  // Wider by what rounding may do in the box test, so that it never loses a triangle.
  const double slack = 1e-14 * std::max(low.cwiseAbs().maxCoeff(), high.cwiseAbs().maxCoeff());
  nodes_[node].low = low - Vec3d::Constant(slack);
  nodes_[node].high = high + Vec3d::Constant(slack);
  if (last - first <= kLeafTriangles) {
    nodes_[node].first = first;
    nodes_[node].count = last - first;
    return;
  }
  int axis = 0;
  Vec3d(centre_high - centre_low).maxCoeff(&axis);
  const std::uint32_t middle = first + (last - first) / 2;
  std::nth_element(order_.begin() + first, order_.begin() + middle, order_.begin() + last,
                   [&](std::uint32_t a, std::uint32_t b) {
                     const double x = centres[a][axis], y = centres[b][axis];
                     return x != y ? x < y : a < b;
                   });
  const auto left = static_cast<std::uint32_t>(nodes_.size());
  nodes_[node].first = left;
  nodes_.resize(nodes_.size() + 2);
  split(left, first, middle, centres);
  split(left + 1, middle, last, centres);
}

std::optional<TriangleTree::Nearest> TriangleTree::closestPoint(const Vec3d& p,
                                                                double max_distance_m) const {
  return closestAmong(p, max_distance_m, [](std::uint32_t) { return true; });
}

std::optional<TriangleTree::Nearest> TriangleTree::closestPoint(
    const Vec3d& p, double max_distance_m, const std::function<bool(std::uint32_t)>& accept) const {
  return closestAmong(p, max_distance_m, accept);
}

template <class Accept>
std::optional<TriangleTree::Nearest> TriangleTree::closestAmong(const Vec3d& p,
                                                                double max_distance_m,
                                                                const Accept& accept) const {
  if (triangles_.empty()) return std::nullopt;
  std::optional<Nearest> best;
  double best_squared = max_distance_m * max_distance_m;
  std::array<std::pair<std::uint32_t, double>, kMaxDepth + 1> stack;
  std::size_t depth = 0;
  stack[depth++] = {0, squaredDistanceToBox(p, nodes_[0].low, nodes_[0].high)};
  while (depth > 0) {
    const auto [at, box_squared] = stack[--depth];
    if (box_squared > best_squared) continue;  // equally near ones are looked at: index decides
    const Node& node = nodes_[at];
    for (std::uint32_t i = node.first; i < node.first + node.count; ++i) {
      const std::uint32_t triangle = order_[i];
      const Corners& c = corners_[triangle];
      const Vec3d where = closestOnTriangle(p, c[0], c[1], c[2]);
      const Vec3d point = where[0] * c[0] + where[1] * c[1] + where[2] * c[2];
      const double squared = (point - p).squaredNorm();
      if (squared > best_squared || (best && squared == best_squared && triangle > best->triangle))
        continue;
      if (!accept(triangle)) continue;
      best_squared = squared;
      best = Nearest{triangle, where, point, std::sqrt(squared)};
    }
    if (node.count > 0) continue;
    std::pair<std::uint32_t, double> near = {
        node.first, squaredDistanceToBox(p, nodes_[node.first].low, nodes_[node.first].high)};
    std::pair<std::uint32_t, double> far = {
        node.first + 1,
        squaredDistanceToBox(p, nodes_[node.first + 1].low, nodes_[node.first + 1].high)};
    if (far.second < near.second) std::swap(near, far);
    stack[depth++] = far;
    stack[depth++] = near;
  }
  return best;
}

/// Calls visit(triangle) for every triangle whose leaf the segment touches, until it returns false.
/// `t_end` is read anew at each box, so that a visit may shorten the segment.
template <class Visit>
void TriangleTree::alongSegment(const Vec3d& from, const Vec3d& to, const double& t_end,
                                const Visit& visit) const {
  if (triangles_.empty()) return;
  const Vec3d step = to - from;
  std::array<std::uint32_t, kMaxDepth + 1> stack;
  std::size_t depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const Node& node = nodes_[stack[--depth]];
    if (!segmentTouchesBox(from, step, t_end, node.low, node.high)) continue;
    if (node.count == 0) {
      stack[depth++] = node.first + 1;
      stack[depth++] = node.first;
      continue;
    }
    for (std::uint32_t i = node.first; i < node.first + node.count; ++i)
      if (!visit(order_[i])) return;
  }
}

std::optional<TriangleTree::Hit> TriangleTree::firstHit(const Vec3d& from, const Vec3d& to) const {
  std::optional<Hit> best;
  double t_end = 1;
  alongSegment(from, to, t_end, [&](std::uint32_t triangle) {
    const std::optional<Crossing> hit = crossing(from, to, corners_[triangle], 0.0);
    if (!hit || hit->t > t_end) return true;
    if (best && hit->t == best->t && triangle > best->triangle) return true;
    t_end = hit->t;
    best = Hit{triangle, hit->t, hit->barycentric};
    return true;
  });
  return best;
}

bool TriangleTree::blocks(const Vec3d& from, const Vec3d& to, const Sight& sight) const {
  bool blocked = false;
  alongSegment(from, to, sight.t_end, [&](std::uint32_t triangle) {
    const Triangle& t = triangles_[triangle];
    if (t[0] == sight.ignore_vertex || t[1] == sight.ignore_vertex || t[2] == sight.ignore_vertex)
      return true;
    const std::optional<Crossing> hit = crossing(from, to, corners_[triangle], sight.clearance_m);
    blocked = hit && hit->t <= sight.t_end;
    return !blocked;
  });
  return blocked;
}

}  // namespace derm
