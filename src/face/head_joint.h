#pragma once

#include "derm/character/character.h"

namespace derm::detail {

/// The joint that carries the face: that of its rig, or the one that its labelled points follow
/// most; not valid without a skin.
JointId headJoint(const Character& character);

}  // namespace derm::detail
