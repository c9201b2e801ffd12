#pragma once

#include <span>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/face/head_correspondence.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// A dense correspondence from labelled points alone: a smooth map (RBF, kernel r) that takes the
/// target's points to the source's of the same labels, then the nearest triangle of the source that
/// looks the same way (Dutreve 2011, section 3.4.2, where vertices were projected along rays). For
/// heads that a registration cannot bring together, a cartoon and a human for example.
/// Vertices farther from every point than the eyes' distance (that of the points' rms radius where
/// there are no eyes) have no counterpart. Requires valid meshes and points valid on them. Fails
/// with fewer than four common labels. O(vertices * (points + log triangles)).
Result<HeadCorrespondence> landmarkCorrespondence(const TriMesh& source,
                                                  std::span<const LabelledPoint> source_points,
                                                  const TriMesh& target,
                                                  std::span<const LabelledPoint> target_points,
                                                  Diagnostics& notes);

}  // namespace derm
