#pragma once

#include <string>
#include <vector>

#include "derm/anim/skeleton.h"

namespace derm {

/// A named number that clips animate and layers read: an expression's slider, the weight of a
/// reference pose. What it does is up to the layers.
struct Control {
  std::string name;  ///< unique in a character
  float preset = 0;  ///< value at rest, in [low, high]
  float low = 0;     ///< range for sliders; poses may leave it
  float high = 1;

  bool operator==(const Control&) const = default;
};

/// Everything that moves at one instant: a local transform per joint, a weight per morph target, a
/// value per control.
struct Pose {
  std::vector<Transform> local;
  std::vector<float> morph_weights;
  std::vector<float> controls = {};

  bool operator==(const Pose&) const = default;
};

/// `to` becomes `from`, in one copy where the sizes are equal: poses are copied several times a
/// frame.
void copyPose(const Pose& from, Pose& to);

}  // namespace derm
