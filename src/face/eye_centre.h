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

/// The eye that a lid's point belongs to; Middle for other points.
FaceSide eyeOfLid(std::string_view number);

/// The smallest turn about `centre` that brings `from` into the direction of `to`.
Quatd turnAbout(const Vec3d& centre, const Vec3d& from, const Vec3d& to);

}  // namespace derm::detail
