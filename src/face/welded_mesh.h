#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/adjacency.h"
#include "derm/mesh/tri_mesh.h"

namespace derm::detail {

/// A mesh whose vertices at one position are one point, numbered without gaps: what equations on a
/// surface are written for. Triangles keep their numbers; those without three different points stay
/// in the list (`flat` says which).
struct WeldedMesh {
  std::vector<std::uint32_t> of_vertex;     ///< per vertex of the mesh its point
  std::vector<std::uint32_t> first_vertex;  ///< per point the first of its vertices
  std::vector<Vec3d> positions;             ///< [m] per point
  std::vector<Triangle> triangles;          ///< of points
  std::vector<bool> flat;                   ///< per triangle: two corners are one point
  Pieces pieces;                            ///< of points

  std::size_t pointCount() const { return positions.size(); }
};

/// Requires a valid mesh. O(n log n).
WeldedMesh weldedMesh(const TriMesh& mesh);

}  // namespace derm::detail
