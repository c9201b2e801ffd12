#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/base/diagnostics.h"
#include "derm/math/vec.h"

namespace derm {

/// A straight piece of bone that skin can follow. Several pieces may share a slot; distance to the
/// slot is then distance to the nearest of them.
struct BoneSegment {
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  std::uint32_t slot = 0;        ///< which one of the bones (and of the skin's slots)
  Vec3d from = Vec3d::Zero();    ///< [m] model space, the joint itself
  Vec3d to = Vec3d::Zero();      ///< [m] the other end; equal to `from` for a point
  std::uint32_t before = kNone;  ///< slot of the bone that ends at `from`
  std::uint32_t after = kNone;   ///< slot of the bone that begins at `to`
  std::uint32_t depth = 0;       ///< joints above it: of equally near bones the deeper one wins

  bool isPoint() const { return from == to; }
};

/// The bones of a skeleton as segments in the bind pose. A bone reaches from its joint
///  - to every bone next below it (joints that are no bones are passed over): a pelvis reaches to
///    the spine and to both hips, a palm to every finger;
///  - if there is none, to the joints right below it (the end joints that many programs write);
///  - if there are none either, onwards in the direction of the bone above it, through three
///    quarters of the surface that lies beyond: a head goes on from its neck. This is what
///    `positions` (the mesh, in the bind pose) are for. Where less lies beyond than half the mean
///    distance of that surface from the joint, the joint marks the end of the bone above and is
///    left out: it could only share with it what the other holds already.
/// A bone without length that lies at the end of another one is left out for the same reason (noted
/// as "bone-without-length"); a lonely one is a point.
/// `bones` become slots in the order given. `bind_model` has a matrix per joint of the skeleton.
/// Requires valid, distinct bones. O(bones * vertices).
std::vector<BoneSegment> boneSegments(const Skeleton& skeleton, std::span<const JointId> bones,
                                      std::span<const Affine3d> bind_model,
                                      std::span<const Vec3f> positions, Diagnostics& notes);

/// The same bones as their joints' positions alone.
std::vector<BoneSegment> bonePoints(const Skeleton& skeleton, std::span<const JointId> bones,
                                    std::span<const Affine3d> bind_model);

}  // namespace derm
