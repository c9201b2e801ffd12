#pragma once

#include <cstdint>
#include <vector>

#include "derm/mesh/tri_mesh.h"

/// Private to room implicit: small holes of a mesh that is to bound something.
namespace derm::detail {

struct ClosedOpenings {
  std::size_t count = 0;
  double widest_m = 0;       ///< [m] from its rim's middle to the farthest point of it, twice
  std::uint32_t vertex = 0;  ///< on the widest one's rim
};

/// Closes openings whose rim is one loop and whose area is at most 15 % of their piece's, by a
/// fan from the rim's middle: there the winding number of the open mesh passes one half (exactly
/// where the rim is plane), so what it calls inside is inside. Wider openings stay: what they bound
/// is a guess. Adds vertices and triangles at the end of `mesh` and `welded` (its triangles with
/// vertices at one position made one).
ClosedOpenings closeSmallOpenings(TriMesh& mesh, std::vector<Triangle>& welded);

}  // namespace derm::detail
