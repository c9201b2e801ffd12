#include "implicit/mesh_openings.h"

#include <algorithm>
#include <array>
#include <map>

#include "derm/mesh/adjacency.h"

namespace derm::detail {
namespace {

using Edge = std::array<std::uint32_t, 2>;

constexpr double kSmallOpening = 0.15;  ///< of its piece's area

/// Directed edges without a reverse, by where they start.
std::multimap<std::uint32_t, std::uint32_t> borderOf(const std::vector<Triangle>& triangles) {
  std::vector<Edge> edges;
  for (const Triangle& t : triangles)
    if (t[0] != t[1] && t[1] != t[2] && t[2] != t[0])
      for (std::size_t k = 0; k < 3; ++k) edges.push_back({t[k], t[(k + 1) % 3]});
  std::sort(edges.begin(), edges.end());
  std::multimap<std::uint32_t, std::uint32_t> border;
  for (const Edge& e : edges)
    if (!std::binary_search(edges.begin(), edges.end(), Edge{e[1], e[0]}))
      border.emplace(e[0], e[1]);
  return border;
}

/// Takes a loop out of the border; none where the way ends.
std::vector<std::uint32_t> takeLoop(std::multimap<std::uint32_t, std::uint32_t>& border) {
  std::vector<std::uint32_t> loop = {border.begin()->first};
  for (;;) {
    const auto next = border.find(loop.back());
    if (next == border.end()) return {};
    const std::uint32_t to = next->second;
    border.erase(next);
    if (to == loop.front()) return loop;
    loop.push_back(to);
  }
}

double areaOf(const TriMesh& mesh, const Triangle& t) {
  const Vec3d a = mesh.positions[t[0]].cast<double>();
  return 0.5 * Vec3d(mesh.positions[t[1]].cast<double>() - a)
                   .cross(Vec3d(mesh.positions[t[2]].cast<double>() - a))
                   .norm();
}

}  // namespace

ClosedOpenings closeSmallOpenings(TriMesh& mesh, std::vector<Triangle>& welded) {
  const Pieces pieces = connectedPieces(welded, mesh.vertexCount());
  std::vector<double> area(pieces.count, 0.0);
  for (const Triangle& t : welded) area[pieces.of_vertex[t[0]]] += areaOf(mesh, t);
  ClosedOpenings out;
  std::multimap<std::uint32_t, std::uint32_t> border = borderOf(welded);
  while (!border.empty()) {
    const std::vector<std::uint32_t> loop = takeLoop(border);
    if (loop.size() < 3) continue;
    Vec3d middle = Vec3d::Zero();
    for (const std::uint32_t v : loop)
      middle += mesh.positions[v].cast<double>() / static_cast<double>(loop.size());
    const auto centre = static_cast<std::uint32_t>(mesh.positions.size());
    mesh.positions.push_back(middle.cast<float>());
    std::vector<Triangle> fan;
    double fan_area = 0, radius = 0;
    for (std::size_t i = 0; i < loop.size(); ++i) {
      fan.push_back({loop[(i + 1) % loop.size()], loop[i], centre});
      fan_area += areaOf(mesh, fan.back());
      radius = std::max(radius, (mesh.positions[loop[i]].cast<double>() - middle).norm());
    }
    if (fan_area > kSmallOpening * area[pieces.of_vertex[loop.front()]]) {
      mesh.positions.pop_back();
      continue;
    }
    mesh.triangles.insert(mesh.triangles.end(), fan.begin(), fan.end());
    welded.insert(welded.end(), fan.begin(), fan.end());
    ++out.count;
    if (2 * radius > out.widest_m) {
      out.widest_m = 2 * radius;
      out.vertex = loop.front();
    }
  }
  return out;
}

}  // namespace derm::detail
