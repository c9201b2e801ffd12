#include "face/mouth_inside.h"

#include <cmath>

namespace derm::detail {

std::vector<bool> insideMouth(const WeldedMesh& mesh, const FaceSlit& mouth) {
  std::vector<bool> outside(mesh.pointCount(), false);
  for (const std::vector<std::uint32_t>* chain : {&mouth.upper, &mouth.lower})
    for (const std::uint32_t v : *chain) outside[mesh.of_vertex[v]] = true;
  const std::uint32_t skin = mesh.pieces.of_vertex[mesh.of_vertex[mouth.upper.front()]];
  std::uint32_t top = mesh.of_vertex[mouth.upper.front()];
  for (std::uint32_t p = 0; p < outside.size(); ++p)
    if (mesh.pieces.of_vertex[p] == skin &&
        mouth.up.dot(mesh.positions[p] - mesh.positions[top]) > 0)
      top = p;
  const IndexLists neighbours = vertexNeighbours(mesh.triangles, mesh.pointCount());
  std::vector<std::uint32_t> open = {top};
  outside[top] = true;
  while (!open.empty()) {
    const std::uint32_t p = open.back();
    open.pop_back();
    for (const std::uint32_t n : neighbours[p])
      if (!outside[n]) {
        outside[n] = true;
        open.push_back(n);
      }
  }
  for (std::uint32_t p = 0; p < outside.size(); ++p)
    if (mesh.pieces.of_vertex[p] != skin) outside[p] = true;
  outside.flip();
  return outside;
}

std::vector<bool> behindLips(const WeldedMesh& mesh, const FaceSlit& mouth,
                             const FacePoints& points) {
  const std::vector<bool> inside = insideMouth(mesh, mouth);
  const std::uint32_t skin = mesh.pieces.of_vertex[mesh.of_vertex[mouth.upper.front()]];
  // Other pieces below the tip of the nose, as wide as the mouth and behind it.
  constexpr double kDeepest = 3;  // mouth widths
  const FaceAxes axes = faceAxes(points);
  const Vec3d& nose = points.at("9.3");
  std::vector<bool> in_mouth(mesh.pieces.count, true);
  for (std::size_t p = 0; p < mesh.pointCount(); ++p) {
    const Vec3d off = mesh.positions[p] - nose;
    const double behind = -axes.forward.dot(off);
    if (axes.up.dot(off) > 0 || std::abs(axes.left.dot(off)) > mouth.width_m || behind < 0 ||
        behind > kDeepest * mouth.width_m)
      in_mouth[mesh.pieces.of_vertex[p]] = false;
  }
  std::vector<bool> out;
  for (const std::uint32_t p : mesh.of_vertex) {
    const std::uint32_t piece = mesh.pieces.of_vertex[p];
    out.push_back(piece == skin ? inside[p] : in_mouth[piece]);
  }
  return out;
}

}  // namespace derm::detail
