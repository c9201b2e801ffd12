#include "derm/anim/pose.h"

#include <cstring>

namespace derm {

void copyPose(const Pose& from, Pose& to) {
  // Assigning joint by joint costs ten times as much where Eigen's functions are not inlined.
  static_assert(sizeof(Transform) == 10 * sizeof(float));
  if (from.local.empty() || to.local.size() != from.local.size())
    to.local = from.local;
  else
    std::memcpy(static_cast<void*>(to.local.data()), from.local.data(),
                from.local.size() * sizeof(Transform));
  to.morph_weights = from.morph_weights;
  to.controls = from.controls;
}

}  // namespace derm
