#pragma once

#include <array>
#include <cstdint>

namespace derm::detail {

/// How the surface passes a cell whose corners are inside (bit set) or outside.
///
///   corner c lies at (c & 1, c >> 1 & 1, c >> 2); edge 4 axis + k starts at the corner whose
///   coordinates on the two other axes (axis + 1, axis + 2 mod 3) are bits 0 and 1 of k.
struct CellCase {
  std::uint8_t triangle_count = 0;
  std::array<std::uint8_t, 15> edges{};  ///< three per triangle, counter-clockwise from outside
};

/// The 256 cases, made from the faces: on a face with two separate inside corners each of them is
/// cut off, and both cells at the face see the same, so surfaces are closed. Of the ways to cut a
/// loop into triangles one is taken whose diagonals lie in no face: a neighbour's triangles can
/// then never share one, and surfaces are manifold.
const std::array<CellCase, 256>& cellTable();

/// The lower corner of each edge.
constexpr int edgeCorner(int edge) {
  const int axis = edge / 4, k = edge % 4;
  return (k & 1) << (axis + 1) % 3 | (k >> 1) << (axis + 2) % 3;
}

}  // namespace derm::detail
