#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/deform/flesh.h"

namespace derm::detail {

/// The attenuation at y in bone halves from the middle: 0 beyond the ends (the Wyvill polynomial is
/// not by itself), but for None.
double attenuation(FleshAttenuation kind, double y);

/// The straight line through an element, in the bind pose.
struct VirtualBone {
  Vec3d from = Vec3d::Zero();  ///< [m] at the dominant joint, y = +1
  Vec3d to = Vec3d::Zero();    ///< [m] barycentre of the ends, y = -1

  Vec3d middle() const { return from + 0.5 * (to - from); }
  double length() const { return (to - from).norm(); }
  /// [-1,1] between the ends.
  double along(const Vec3d& p) const;
  /// [m] from the segment.
  double distance(const Vec3d& p) const;
};

/// Requires a valid desc; one bind matrix per joint.
VirtualBone virtualBone(const FleshDesc& desc, std::span<const Affine3d> bind_model);

/// Which joints carry the flesh of an element: those from the dominant joint down to (not
/// including) the ends, the ends too where `to` lies beyond them, and what hangs on these within
/// the element: twist joints, breasts; not limbs, which leave it.
std::vector<bool> jointsOfElement(const FleshDesc& desc, const Skeleton& skeleton,
                                  std::span<const Affine3d> bind_model);

/// What each vertex takes part in the motion of its element.
struct FleshWeights {
  std::vector<std::uint32_t> vertices;  ///< ascending
  std::vector<float> alpha;             ///< (0,1] per entry of `vertices`; the largest is 1
  double safe_elongation_m = 0;         ///< [m] e_max of the bind pose
};

/// alpha = shape * attenuation * strength, normalised: shape = max(0, distance - bone radius) to
/// shape_power; strength from the vertex group or the skin weights of jointsOfElement(), faded out
/// towards reach_m. Entries below 1e-5 are left out. Without a vertex group props (propVertices(),
/// may be empty) keep still where an element has other skin. O(vertices). Fails on a bone without
/// length and where nothing can move.
Result<FleshWeights> fleshWeights(const FleshDesc& desc, const Skeleton& skeleton,
                                  std::span<const Affine3d> bind_model, const BoundSurface& surface,
                                  std::span<const std::uint8_t> is_prop = {});

}  // namespace derm::detail
