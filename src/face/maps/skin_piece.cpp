#include "face/maps/skin_piece.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "derm/base/disjoint_sets.h"
#include "derm/mesh/weld.h"

namespace derm::detail::maps {

std::vector<Triangle> skinTriangles(const TriMesh& mesh, std::span<const LabelledPoint> points) {
  const std::vector<std::uint32_t> welded = weldMap(mesh.positions);
  DisjointSets sets(mesh.vertexCount());
  for (std::size_t v = 0; v < welded.size(); ++v)
    sets.unite(static_cast<std::uint32_t>(v), welded[v]);
  for (const Triangle& t : mesh.triangles) {
    sets.unite(t[0], t[1]);
    sets.unite(t[0], t[2]);
  }
  std::vector<std::uint32_t> votes(mesh.vertexCount());
  for (const LabelledPoint& p : points) ++votes[sets.rootOf(mesh.triangles[p.point.triangle][0])];
  const auto most =
      static_cast<std::uint32_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
  std::vector<Triangle> out;
  for (const Triangle& t : mesh.triangles)
    if (sets.rootOf(t[0]) == most) out.push_back(t);
  return out;
}

std::vector<Vec2f> uvsAtPoints(const TriMesh& mesh, std::span<const LabelledPoint> points) {
  constexpr float kFarthest = 1000;  // beyond it floats have no room for a texture's detail
  std::map<std::array<float, 2>, std::size_t> votes;
  for (const LabelledPoint& p : points) {
    const Vec2f uv = valueAt<Vec2f>(p.point, std::span<const Triangle>(mesh.triangles), mesh.uvs);
    if (uv.minCoeff() >= 0 && uv.maxCoeff() <= 1)
      ++votes[{0, 0}];
    else if (uv.cwiseAbs().maxCoeff() < kFarthest)
      ++votes[{std::floor(uv.x()), std::floor(uv.y())}];
  }
  std::vector<Vec2f> out = mesh.uvs;
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == votes.end() || most->first == std::array<float, 2>{0, 0}) return out;
  for (Vec2f& uv : out) uv -= Vec2f(most->first[0], most->first[1]);
  return out;
}

}  // namespace derm::detail::maps
