#pragma once

#include <vector>

#include "derm/face/face_points.h"
#include "derm/face/face_slits.h"

#include "face/welded_mesh.h"

namespace derm::detail {

/// Per point of the mesh: what of the skin cannot be reached from the top of the head without
/// crossing the lips' margins. Other pieces are not inside.
std::vector<bool> insideMouth(const WeldedMesh& mesh, const FaceSlit& mouth);

/// Per vertex of the mesh: the same, and pieces that lie behind the lips: teeth, tongue.
/// Requires validated control points.
std::vector<bool> behindLips(const WeldedMesh& mesh, const FaceSlit& mouth,
                             const FacePoints& points);

}  // namespace derm::detail
