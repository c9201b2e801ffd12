#include "face/maps/skin_piece.h"

#include <algorithm>

#include "derm/base/disjoint_sets.h"
#include "derm/mesh/uv_raster.h"
#include "derm/mesh/weld.h"

namespace derm::detail::maps {

std::vector<Triangle> skinTriangles(const TriMesh& mesh, std::span<const LabelledPoint> points) {
  const std::vector<std::uint32_t> welded = weldMap(mesh.positions, mesh.triangles);
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
  std::vector<Vec2f> places;
  for (const LabelledPoint& p : points)
    places.push_back(valueAt<Vec2f>(p.point, std::span<const Triangle>(mesh.triangles), mesh.uvs));
  return uvsInSquare(mesh.uvs, squareOfMost(places));
}

}  // namespace derm::detail::maps
