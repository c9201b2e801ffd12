#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "derm/face/face_rig.h"
#include "derm/face/face_slits.h"

#include "face/lip_limits.h"

namespace derm::detail {

/// Of a blink: how much of the way the lower lid comes up.
inline constexpr double kLowerLidShare = 0.08;

/// What a blink brings together at the upper lid's point.
struct LidMeeting {
  Vec3d upper, lower;  ///< [m]
};
/// The eye's margins where the upper lid's control point is, one above the other as one sees them
/// from before the face; without a slit the lids' control points themselves.
LidMeeting lidMeeting(const TriMesh& mesh, const FacePoints& points,
                      const std::optional<FaceSlit>& slit, FaceSide side);

/// What an expression does to the control points of this rigged head: as
/// expressionDisplacements(), lids slid over the ball, lips until they touch, and a blink that
/// brings the margins together. Control points may lie beside the margins and beside each other.
/// Requires validated control points and a name of expressionNames().
std::vector<PointDisplacement> expressionOf(const Character& character, const FaceRig& rig,
                                            const FacePoints& points, const FaceSlits& slits,
                                            const LipLimits& lips, std::string_view name);

/// Corrects the upper lids' weights of a rigged head so that its own blink brings every vertex of
/// an upper margin onto the lower one, seen from the front: what linear skinning, four influences
/// and control points between vertices leave open. Weights around the margin change alike, less and
/// less with the distance. Eyes without a slit stay.
void closeLids(Character& character, const FaceRig& rig, const FacePoints& points,
               const FaceSlits& slits, std::size_t max_influences);

}  // namespace derm::detail
