#pragma once

#include <optional>

#include "derm/face/face_points.h"

namespace derm::detail {

/// [m] The middle of the ball that the lids slide on: that of the sphere through the eye's corners
/// and its lids' points. None where these do not lie as on a ball behind them, on painted eyes for
/// example. Requires the points.
std::optional<Vec3d> eyeCentre(const FacePoints& points, FaceSide side, const FaceAxes& axes);

/// [m] What a lid turns about: between the ball's centre and the line through the eye's corners.
/// About the centre alone margins near the corners would have to take half of the turn, and linear
/// skinning cuts through the ball there; about the line the turn would be too large for the lid
/// above.
std::optional<Vec3d> lidPivot(const FacePoints& points, std::string_view lid, const FaceAxes& axes);

/// The directions of an eye as one sees it from before the face: along its corners, the way that
/// its lids go to meet, and to the viewer. Unit vectors. Requires the corners' points.
struct EyeAxes {
  Vec3d along, height, depth;

  Vec3d inFrame(const Vec3d& p) const { return {along.dot(p), height.dot(p), depth.dot(p)}; }
};
EyeAxes eyeAxes(const FacePoints& points, FaceSide side, const FaceAxes& axes);

/// The eye that a lid's point belongs to; Middle for other points.
FaceSide eyeOfLid(std::string_view number);

/// The turn about the line through `centre` along `axis` that brings `from` into the half plane of
/// `to`. Nothing goes sideways then, so that lids at the corners meet too.
Quatd turnAbout(const Vec3d& centre, const Vec3d& axis, const Vec3d& from, const Vec3d& to);

}  // namespace derm::detail
