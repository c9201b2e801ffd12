#pragma once

#include <vector>

#include "derm/anim/skeleton.h"

namespace derm {

/// Everything that moves at one instant: a local transform per joint, a weight per morph target.
struct Pose {
  std::vector<Transform> local;
  std::vector<float> morph_weights;

  bool operator==(const Pose&) const = default;
};

}  // namespace derm
