#pragma once

#include <array>
#include <span>
#include <vector>

#include "derm/face/face_rig.h"
#include "derm/face/face_slits.h"

#include "face/control_point_index.h"

namespace derm::detail {

/// Where lips touch: for which heights of the control points the margins of a rigged mouth are not
/// below each other farther than at rest.
class LipLimits {  ///< Immutable; share freely between threads.
 public:
  /// Holds nothing back.
  LipLimits() = default;
  /// `poser`: of this rig.
  LipLimits(const Character& rigged, const FaceRig& rig, const FacePoser& poser,
            const FaceSlit& mouth);

  /// Lips go on until they touch: the heights of the six lip points become the nearest ones that
  /// are permitted. `displacements` [m] of all control points, in the order of
  /// controlPointNumbers(). Allocation-free.
  void keepApart(std::span<Vec3d> displacements) const noexcept;

 private:
  /// Of one place along the mouth: the sum of share * height must not be below the limit.
  struct Limit {
    std::array<double, kControlPointCount> shares{};
    double limit_m = 0;
  };
  std::vector<Limit> limits_;
  Vec3d up_ = Vec3d::UnitY();
};

}  // namespace derm::detail
