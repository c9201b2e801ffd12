#include "face/head_surface.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "derm/mesh/weld.h"

namespace derm::detail {

HeadSurface::HeadSurface(const TriMesh& mesh) : weld(weldMap(mesh.positions, mesh.triangles)) {
  positions.reserve(mesh.vertexCount());
  for (const Vec3f& p : mesh.positions) positions.push_back(p.cast<double>());
  triangles = mapped(mesh.triangles, weld);
  neighbours = vertexNeighbours(triangles, mesh.vertexCount());
  pieces = connectedPieces(triangles, mesh.vertexCount());
}

std::uint32_t HeadSurface::nearestVertex(const Vec3d& p, const std::vector<bool>& among) const {
  std::uint32_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t v = 0; v < positions.size(); ++v) {
    if (neighbours[v].empty() || (!among.empty() && !among[pieces.of_vertex[v]])) continue;
    if (const double d = (positions[v] - p).squaredNorm(); d < least) {
      least = d;
      best = v;
    }
  }
  return best;
}

std::vector<std::uint32_t> HeadSurface::path(std::uint32_t from, std::uint32_t to) const {
  constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  std::vector<double> distance(positions.size(), std::numeric_limits<double>::infinity());
  std::vector<std::uint32_t> before(positions.size(), kNone);
  using Entry = std::pair<double, std::uint32_t>;  // of equal ways the smaller vertex comes first
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  distance[from] = 0;
  open.emplace(0.0, from);
  while (!open.empty()) {
    const auto [way, v] = open.top();
    open.pop();
    if (v == to) break;
    if (way > distance[v]) continue;
    for (const std::uint32_t n : neighbours[v]) {
      const double longer = way + (positions[n] - positions[v]).norm();
      if (longer >= distance[n]) continue;
      distance[n] = longer;
      before[n] = v;
      open.emplace(longer, n);
    }
  }
  if (before[to] == kNone && from != to) return {};
  std::vector<std::uint32_t> out = {to};
  while (out.back() != from) out.push_back(before[out.back()]);
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace derm::detail
