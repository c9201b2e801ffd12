#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "derm/anim/skeleton.h"

#include "anim/joint_names.h"

namespace derm::detail {

/// The joints of a two-legged, two-armed body in a skeleton, found by what their names say and by
/// how they hang together. Where a bone is cut into several ("upperarm01", "upperarm02"), the first
/// stands for it; the others ride along.
struct BodyPlan {
  using Slot = std::optional<std::uint32_t>;
  struct Side {
    Slot collar, upper_arm, forearm, hand;
    Slot thigh, shin, foot, toe;
  };

  std::uint32_t hips = 0;            ///< what the legs and the spine hang on
  std::vector<std::uint32_t> spine;  ///< above the hips, up to what the arms hang on
  std::vector<std::uint32_t> neck;   ///< between spine and head
  Slot head;
  std::array<Side, 2> sides;  ///< left, right

  /// What each joint of the plan is; Unknown for all others. One entry per joint of the skeleton.
  std::vector<BodyPart> parts(std::size_t joint_count) const;
};

/// Nothing where thighs, shins and upper arms of both sides are not all found, or do not hang on
/// common joints.
std::optional<BodyPlan> findBody(const Skeleton& skeleton);

/// Joints that mean the same in both bodies, source first. Spines and necks of different lengths
/// share their lowest and highest joints; what the longer has more stays alone.
std::vector<std::pair<std::uint32_t, std::uint32_t>> pairBodies(const BodyPlan& source,
                                                                const BodyPlan& target);

/// The lowest joint that all of these are or hang below; nothing where they have none in common.
std::optional<std::uint32_t> commonAncestor(const Skeleton& skeleton,
                                            const std::vector<std::uint32_t>& joints);

}  // namespace derm::detail
