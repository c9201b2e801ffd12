#include "face/slit_curves.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

namespace derm::detail {
namespace {

/// (1 - t^2)^2: level at the margin and at the rim.
double falloff(double t) { return t < 1 ? (1 - t * t) * (1 - t * t) : 0.0; }

/// How a margin's values go on: inverse distances to the fourth, so that the margin itself keeps
/// its own and neighbours do not show as streaks.
std::vector<float> marginShares(const WeldedMesh& mesh, const SlitCurve& curve,
                                std::uint32_t point) {
  std::vector<float> shares(curve.size(), 0.0f);
  double sum = 0;
  std::vector<double> raw(curve.size());
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double squared =
        (mesh.positions[curve.points()[i]] - mesh.positions[point]).squaredNorm();
    if (squared == 0) {
      shares[i] = 1;
      return shares;
    }
    sum += raw[i] = 1 / (squared * squared);
  }
  for (std::size_t i = 0; i < curve.size(); ++i) shares[i] = static_cast<float>(raw[i] / sum);
  return shares;
}

}  // namespace

SlitCurve::SlitCurve(const WeldedMesh& mesh, const FaceSlit& slit,
                     std::span<const std::uint32_t> chain) {
  const auto along = [&](std::uint32_t vertex) {
    return mesh.positions[mesh.of_vertex[vertex]].dot(slit.along);
  };
  const double start = along(chain.front());
  const double length = std::max(along(chain.back()) - start, 1e-12 * slit.width_m);
  double last = 0;
  for (const std::uint32_t v : chain) {
    points_.push_back(mesh.of_vertex[v]);
    last = std::max(last, std::min((along(v) - start) / length, 1.0));
    parameters_.push_back(last);
  }
  parameters_.back() = 1;
}

SlitCurve::At SlitCurve::at(double parameter) const {
  const auto after = std::upper_bound(parameters_.begin(), parameters_.end(), parameter);
  if (after == parameters_.begin()) return {0, 0, 0};
  if (after == parameters_.end()) {
    const auto end = static_cast<std::uint32_t>(points_.size() - 1);
    return {end, end, 0};
  }
  const auto second = static_cast<std::uint32_t>(after - parameters_.begin());
  const double from = parameters_[second - 1], to = parameters_[second];
  return {second - 1, second, to > from ? (parameter - from) / (to - from) : 0.0};
}

void SlitSide::spread(std::span<const Vec3d> along_margin, double radius_m,
                      std::span<Vec3d> values) const {
  for (std::size_t k = 0; k < points.size(); ++k) {
    const double strength = falloff(distances[k] / radius_m);
    if (strength <= 0) continue;
    Vec3d sum = Vec3d::Zero();
    for (std::size_t i = 0; i < along_margin.size(); ++i)
      if (shares[k][i] > 0) sum += static_cast<double>(shares[k][i]) * along_margin[i];
    values[points[k]] += strength * sum;
  }
}

SlitSurface slitSurface(const WeldedMesh& mesh, const FaceSlit& slit, double radius) {
  SlitSurface out;
  out.slit = slit;
  out.radius_m = radius * slit.width_m;
  out.upper.curve = SlitCurve(mesh, slit, slit.upper);
  out.lower.curve = SlitCurve(mesh, slit, slit.lower);

  // Dijkstra from both margins at once.
  const IndexLists neighbours = vertexNeighbours(mesh.triangles, mesh.pointCount());
  std::vector<double> distance(mesh.pointCount(), INFINITY);
  std::vector<std::uint8_t> side(mesh.pointCount(), 0);  // 1 upper, 2 lower, 3 a corner: both
  using Entry = std::pair<double, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> open;
  for (const std::uint32_t p : out.upper.curve.points()) side[p] |= 1;
  for (const std::uint32_t p : out.lower.curve.points()) side[p] |= 2;
  for (const SlitCurve* curve : {&out.upper.curve, &out.lower.curve})
    for (const std::uint32_t p : curve->points()) {
      distance[p] = 0;
      open.push({0, p});
    }
  while (!open.empty()) {
    const auto [d, p] = open.top();
    open.pop();
    if (d > distance[p]) continue;
    for (const std::uint32_t q : neighbours[p]) {
      const double to = d + (mesh.positions[q] - mesh.positions[p]).norm();
      if (to > out.radius_m || to >= distance[q]) continue;
      distance[q] = to;
      // Beyond a corner both meet: the heights of the two sides decide there.
      side[q] = side[p];
      open.push({to, q});
    }
  }
  for (std::uint32_t p = 0; p < mesh.pointCount(); ++p) {
    if (!(distance[p] <= out.radius_m)) continue;
    for (const auto& [mask, target] : {std::pair{1, &out.upper}, std::pair{2, &out.lower}}) {
      if ((side[p] & mask) == 0) continue;
      target->points.push_back(p);
      target->distances.push_back(distance[p]);
      target->shares.push_back(marginShares(mesh, target->curve, p));
    }
  }
  return out;
}

}  // namespace derm::detail
