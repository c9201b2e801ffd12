#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/tri_mesh.h"

namespace derm {

/// For each vertex a list of other indices, in one array (compressed rows).
struct IndexLists {
  std::vector<std::uint32_t> offsets;  ///< rowCount() + 1
  std::vector<std::uint32_t> indices;

  std::size_t rowCount() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::span<const std::uint32_t> operator[](std::size_t row) const {
    return std::span(indices).subspan(offsets[row], offsets[row + 1] - offsets[row]);
  }
};

/// Triangles around each vertex, in triangle order. A triangle that uses a vertex twice is listed
/// once. Requires indices < vertex_count. O(n).
IndexLists vertexTriangles(std::span<const Triangle> triangles, std::size_t vertex_count);

/// Vertices joined to each vertex by an edge, sorted. Requires indices < vertex_count. O(n log k).
IndexLists vertexNeighbours(std::span<const Triangle> triangles, std::size_t vertex_count);

/// A label per vertex: which connected piece (by edges) it belongs to. Pieces are numbered in order
/// of their first vertex; vertices without triangles are one piece together, the last, so that
/// tables per piece do not grow with what is no surface.
struct Pieces {
  std::vector<std::uint32_t> of_vertex;
  std::uint32_t count = 0;
};
Pieces connectedPieces(std::span<const Triangle> triangles, std::size_t vertex_count);

/// Triangles with every corner replaced by map[corner] (see weld.h); degenerate ones are kept, so
/// triangle indices stay valid.
std::vector<Triangle> mapped(std::span<const Triangle> triangles,
                             std::span<const std::uint32_t> map);

}  // namespace derm
