#pragma once

#include <cstdint>
#include <vector>

#include "derm/mesh/tri_mesh.h"

/// Private to room implicit: which triangles of a mesh bound solids that are told apart.
namespace derm::detail {

/// Triangles whose signed distances are found together.
struct MeshPart {
  std::vector<std::uint32_t> triangles;  ///< ascending
  std::vector<float> turns;              ///< per triangle: -1 where it faces inwards
  bool closed = true;                    ///< all of it is closed pieces with room between them
};

struct MeshParts {
  /// Closed ones first; one that is not, of all other pieces, may be the last.
  std::vector<MeshPart> parts;
  std::size_t turned_pieces = 0;  ///< closed pieces that face inwards
};

/// Closed pieces whose boxes meet go to different parts, each to the first it fits. Pieces with
/// borders or odd edges bound something only together: they share a part, turned as the whole mesh
/// is. `welded`: the mesh's triangles with vertices at one position made one.
MeshParts splitIntoParts(const TriMesh& mesh, const std::vector<Triangle>& welded, bool inside_out);

}  // namespace derm::detail
