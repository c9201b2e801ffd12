#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "derm/mesh/tri_mesh.h"

namespace derm {

/// Is the surface a closed, consistently oriented manifold along its edges? Then volume is
/// well defined. The test: every directed edge exists exactly once, and so does its reverse.
/// (Volume alone cannot tell: one flipped triangle may leave it unchanged.)
struct Closedness {
  std::size_t boundary_edges = 0;  ///< directed edges without a reverse
  std::size_t repeated_edges = 0;  ///< directed edges used more than once (non-manifold, flipped)
  std::size_t degenerate_triangles = 0;  ///< two equal corners; left out of the test
  std::optional<std::array<std::uint32_t, 2>> first_bad_edge;
  bool empty = true;  ///< no triangle at all

  bool closed() const { return !empty && boundary_edges == 0 && repeated_edges == 0; }
};

/// For meshes with split vertices pass mapped(triangles, weldMap(positions)). O(n log n).
Closedness checkClosed(std::span<const Triangle> triangles);

}  // namespace derm
