#pragma once

#include <string_view>
#include <vector>

#include "derm/face/face_points.h"

namespace derm {

/// How far one control point reaches: an ellipsoid about it, its axes along the face's own.
struct ControlZone {
  std::string_view point;  ///< number of the control point
  Vec3d centre_m = Vec3d::Zero();
  Vec3d radii_m = Vec3d::Ones();  ///< [m] along left, up, forward of the face; > 0
};

/// The zones of all 28 control points, in the order of controlPointNumbers(). Their sizes come from
/// distances between the points, so they fit any proportions (docs/faces.md has the table).
/// Method: Dutreve 2011, section 3.3, where three zones are given; the others are ours.
/// `with_jaw`: the chin's zone takes in the jaw to both sides; else it is a chin's alone.
/// Requires points that validateControlPoints() accepts.
std::vector<ControlZone> controlZones(const FacePoints& points, bool with_jaw = true);

}  // namespace derm
