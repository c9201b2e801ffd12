#pragma once

#include <array>
#include <span>
#include <vector>

#include "derm/face/face_rig.h"
#include "derm/face/face_slits.h"

#include "face/control_point_index.h"
#include "face/margin_nodes.h"
#include "face/welded_mesh.h"

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

  /// Lips go on until they touch: the heights of the six lip points become the nearest ones for
  /// which no point of a margin is beyond the other margin. What corners and lips do sideways is
  /// part of it: margins slide along each other, and are compared where they are then.
  /// `displacements` [m] of all control points, in the order of controlPointNumbers().
  /// Allocation-free.
  void keepApart(std::span<Vec3d> displacements) const noexcept;

 private:
  /// A place on a margin: it moves by the sum of share * displacement.
  struct Node {
    double along_m = 0, up_m = 0;  ///< at rest, in the slit's directions
    std::array<double, kControlPointCount> shares{};
    bool counts = false;  ///< whether it is held back
    double least_m = 0;   ///< height of the upper over the lower margin there, at least
  };
  using Margin = std::vector<Node>;  ///< at most kMostMarginNodes
  /// Where the nodes of a margin are.
  struct Placed;

  Margin upper_, lower_;
  Vec3d along_ = Vec3d::UnitX(), up_ = Vec3d::UnitY();
  double tolerance_m_ = 0;
};

}  // namespace derm::detail
