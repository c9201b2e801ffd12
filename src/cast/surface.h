#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/tri_mesh.h"

#include "cast/sculpt.h"

namespace derm::detail::cast {

/// A part of the skin with a material of its own: where the skin lies inside a solid. Its outline
/// becomes a line of mesh edges, so that colours do not bleed across.
struct Region {
  int material = 0;
  Sculpt inside;
};

/// Triangles in double, each with the material it belongs to.
struct Surface {
  std::vector<Vec3d> positions;
  std::vector<Triangle> triangles;
  std::vector<int> materials;  ///< one per triangle
};

/// The box that a sculpt is looked for in. It must hold the whole sculpt with a cell to spare.
struct Grid {
  Vec3d low;
  Vec3d high;
  double cell = 0.01;  ///< [m]
  bool half = false;   ///< only x >= 0 (low.x is taken as 0); the rest is the mirror image
};

/// The zero surface by marching tetrahedra (cubes split into six along their main diagonal): always
/// a manifold, closed where not cut by x = 0, vertices on the cut have x exactly 0. Cells far from
/// the surface are passed over in blocks. Order of the output depends on the input only.
Surface polygonised(const Sculpt& sculpt, const Grid& grid);

/// Cuts triangles along the region's outline and gives those inside its material.
void cutRegion(Surface& surface, const Region& region);

/// Adds the mirror image of a half. `mirror_of` gets each vertex's partner (itself on the plane).
Surface mirrored(const Surface& half, std::vector<std::uint32_t>& mirror_of);

}  // namespace derm::detail::cast
