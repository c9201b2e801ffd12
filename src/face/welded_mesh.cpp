#include "face/welded_mesh.h"

#include "derm/mesh/weld.h"

namespace derm::detail {

WeldedMesh weldedMesh(const TriMesh& mesh) {
  WeldedMesh out;
  const std::vector<std::uint32_t> weld = weldMap(mesh.positions, mesh.triangles);
  out.of_vertex.resize(weld.size());
  for (std::size_t v = 0; v < weld.size(); ++v) {
    // The one that stands for a position is its smallest, so it has its number already.
    if (weld[v] != v) {
      out.of_vertex[v] = out.of_vertex[weld[v]];
      continue;
    }
    out.of_vertex[v] = static_cast<std::uint32_t>(out.positions.size());
    out.first_vertex.push_back(static_cast<std::uint32_t>(v));
    out.positions.push_back(mesh.positions[v].cast<double>());
  }
  out.triangles = mapped(mesh.triangles, out.of_vertex);
  out.flat.reserve(out.triangles.size());
  for (const Triangle& t : out.triangles)
    out.flat.push_back(t[0] == t[1] || t[1] == t[2] || t[2] == t[0]);
  out.pieces = connectedPieces(out.triangles, out.positions.size());
  return out;
}

}  // namespace derm::detail
