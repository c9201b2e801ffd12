#pragma once

#include <span>

#include "derm/character/character.h"

namespace derm::detail {

/// The joint that carries the face: that of its rig, or the one that its labelled points follow
/// most; not valid without a skin.
JointId headJoint(const Character& character);

/// The joint that carries a face of which each joint has this `share`: the one with most of it. A
/// face with bones of its own follows many of them a little; then the lowest joint with nearly all
/// of it on itself and below.
JointId faceCarrier(const Skeleton& skeleton, std::span<const double> share);

}  // namespace derm::detail
