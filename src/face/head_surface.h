#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/vec.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/tri_mesh.h"

namespace derm::detail {

/// A head's mesh without its seams: of vertices at one position the first stands for all.
struct HeadSurface {
  explicit HeadSurface(const TriMesh& mesh);

  /// Of the pieces in `among` (per piece; empty = all); requires that there is one.
  std::uint32_t nearestVertex(const Vec3d& p, const std::vector<bool>& among = {}) const;
  /// The shortest way along edges, both ends included; empty where none leads there.
  std::vector<std::uint32_t> path(std::uint32_t from, std::uint32_t to) const;

  std::vector<Vec3d> positions;     ///< of the mesh's vertices
  std::vector<std::uint32_t> weld;  ///< per vertex the one that stands for it
  std::vector<Triangle> triangles;  ///< with the vertices that stand for others
  IndexLists neighbours;
  Pieces pieces;
};

}  // namespace derm::detail
