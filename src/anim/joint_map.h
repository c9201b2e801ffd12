#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "derm/anim/retarget.h"

#include "anim/body_plan.h"

namespace derm::detail {

constexpr std::uint32_t kNoJoint = JointId::kInvalid;

/// Which source joint each target joint follows, and the chains this makes in the target.
struct JointMap {
  std::vector<std::uint32_t> source_of;           ///< per target joint, kNoJoint = unmapped
  std::vector<std::uint32_t> above;               ///< per target joint, nearest mapped ancestor
  std::vector<std::vector<std::uint32_t>> below;  ///< per target joint, mapped joints next below
  std::vector<std::uint32_t> weight;              ///< per target joint, mapped joints at or below
  std::size_t count = 0;
  std::vector<BodyPart> parts;  ///< per target joint, what it is on either side
  /// The joint whose position is the body's, and the one of the source it follows: everything
  /// mapped hangs on it, so that moving it tears nothing. Nothing where there is no such joint.
  std::optional<std::uint32_t> carrier;
  std::uint32_t source_carrier = kNoJoint;
  /// Hips that hang on another carrier on either side: many rigs have a root on the floor, and move
  /// the body against it.
  std::optional<std::uint32_t> hips;
  std::optional<BodyPlan> source_body, target_body;
};

/// Joints that no name means where some are bones of a skin: those that are none, with none below.
std::vector<bool> hiddenJoints(const Skeleton& skeleton, const std::vector<bool>& bones);

/// The skeleton with a reference pose as its rest; as it is where the reference is empty.
Skeleton inReference(Skeleton skeleton, std::span<const Transform> reference);

Result<JointMap> mapJoints(const Skeleton& source, const Skeleton& target,
                           const RetargetDesc& desc);

}  // namespace derm::detail
