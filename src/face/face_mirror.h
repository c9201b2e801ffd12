#pragma once

#include "face/head_samples.h"

namespace derm::detail {

/// The plane in which a face is most nearly its own mirror image.
struct FaceMirror {
  Vec3d normal = Vec3d::UnitX();
  double offset = 0;  ///< normal . p of the plane's points
  /// Median distance of mirrored points from the surface, in the points' unit: thousandths of a
  /// face unit where a mesh was modelled by halves, a hundredth and more on people.
  double misfit = 0;

  Vec3d operator()(const Vec3d& p) const { return p - 2 * (normal.dot(p) - offset) * normal; }
};

/// Of a face in its own frame, which the plane x = 0 halves roughly. Requires points.
FaceMirror findFaceMirror(const MatchPoints& face);

}  // namespace derm::detail
