#pragma once

#include <vector>

#include "derm/mesh/tri_mesh.h"

namespace derm::detail {

/// The largest connected pieces of a mesh where several are as large as each other and lie apart,
/// positions and triangles alone: perhaps a head each. Empty where one piece is the largest, or
/// where the large ones overlap as skin and hair do. Requires a valid mesh. O(n log n).
std::vector<TriMesh> largePiecesApart(const TriMesh& mesh);

}  // namespace derm::detail
