#pragma once

#include <vector>

#include "derm/implicit/band_grid.h"
#include "derm/math/vec.h"
#include "derm/mesh/tri_mesh.h"

#include "implicit/edge_index.h"

namespace derm::detail {

/// The polygonised surface in lattice coordinates. Vertex i is edge point i of the EdgeIndex.
struct LatticeSurface {
  BlockCoord reference;        ///< points count from this block's first node
  std::vector<Vec3f> points;   ///< [voxel]
  std::vector<Vec3f> normals;  ///< unit, outwards; empty where not asked for
  std::vector<Triangle> triangles;
  static constexpr std::size_t kChunks = 16;
  std::vector<std::vector<Triangle>> chunks;  ///< work space

  std::size_t memoryBytes() const {
    std::size_t all = triangles.capacity();
    for (const std::vector<Triangle>& chunk : chunks) all += chunk.capacity();
    return all * sizeof(Triangle) + (points.capacity() + normals.capacity()) * sizeof(Vec3f);
  }
};

/// Replaces the surface's content. Requires an index built from the grid as it is.
void polygoniseLattice(const BandGrid& grid, const EdgeIndex& index, bool normals,
                       LatticeSurface& out);

}  // namespace derm::detail
