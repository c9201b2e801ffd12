#pragma once

#include <vector>

#include "derm/anim/skeleton.h"

namespace derm {

/// The joints that arms hang on (not the collar bones), left first. Empty where the skeleton is not
/// that of a two-legged, two-armed body, told by names and by how joints hang together as in
/// matchJointNames().
std::vector<JointId> upperArms(const Skeleton& skeleton);

}  // namespace derm
