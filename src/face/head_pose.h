#pragma once

#include <functional>
#include <vector>

#include "derm/math/vec.h"

#include "head_samples.h"

namespace derm::detail {

/// A similarity from the source's face frame to the target's normalised one: y = scale R x + shift.
struct PoseCandidate {
  Mat3d rotation = Mat3d::Identity();
  double scale = 1;
  Vec3d shift = Vec3d::Zero();
  double score = 0;  ///< misfit, smaller is better
};

struct PoseSearchDesc {
  bool upright = false;   ///< rotations more than 50 degrees from none are not tried
  bool thorough = false;  ///< many more starts, without the help of a symmetry plane
};

/// Poses in which the source's face may lie on the target, best first, at most three and none much
/// worse than the best. `source` in its face frame, `target` centred with an rms radius of 1, both
/// with openness.
std::vector<PoseCandidate> searchPoses(const Samples& source, const Samples& target,
                                       const PoseSearchDesc& desc);

}  // namespace derm::detail
