#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/deform/rotation_centres.h"
#include "derm/deform/skinning.h"

#include "support/dual_quat.h"

namespace derm {

/// One vertex, in double.
struct SkinnedVertex {
  Vec3d position = Vec3d::Zero();  ///< [m]
  Vec3d normal = Vec3d::UnitY();   ///< unit length
  Vec3d tangent = Vec3d::UnitX();  ///< unit length
  double tangent_w = 1;            ///< +-1
};

/// An influence whose weight has all the digits of a double.
struct PreciseInfluence {
  std::uint32_t slot = 0;
  double weight = 0;
};

/// What SkinningBinding computes, written plainly, vertex by vertex and in double: to hold the fast
/// kernels to. Methods and rules are those of SkinningBinding, except that no stretch is too small
/// to count.
class SkinningReference {
 public:
  /// One matrix per slot; a non-finite one counts as the identity. Requires equal sizes.
  SkinningReference(std::span<const SkinSlot> slots, std::span<const Affine3d> palette);

  /// `row` in any order, weights > 0 with sum 1, slots in range, not empty; not for Centre, which
  /// centre() does.
  SkinnedVertex skin(std::span<const PreciseInfluence> row, const SkinnedVertex& rest,
                     SkinningMethod method) const;
  /// A mix of the linear (share 0) and dual quaternion (share 1) results.
  SkinnedVertex mix(std::span<const PreciseInfluence> row, const SkinnedVertex& rest,
                    double dual_quaternion_share) const;

  /// Gives rotations the signs that the centre method sums them with. Call it once, before
  /// centre().
  void alignSigns(std::span<const SlotLink> links);
  /// The centre method: the vertex turned about `centre` [m].
  SkinnedVertex centre(std::span<const PreciseInfluence> row, const SkinnedVertex& rest,
                       const Vec3d& centre, double alpha) const;

 private:
  struct Slot {
    Affine3d matrix;
    Mat3d normal_matrix;
    Vec3d centre;    ///< [m] bind position of the joint
    Quatd rotation;  ///< matrix = rotation * stretch, then the translation
    Mat3d stretch;
  };
  SkinnedVertex linear(std::span<const PreciseInfluence> row, const SkinnedVertex& rest) const;
  SkinnedVertex dualQuaternion(std::span<const PreciseInfluence> row,
                               const SkinnedVertex& rest) const;
  /// S p = rotation (c + stretch (p - c)) + translation: as a rigid motion.
  DualQuat motionAbout(const Slot& slot, const Vec3d& centre) const;

  std::vector<Slot> slots_;
};

/// A skin's row with weights as doubles.
std::vector<PreciseInfluence> preciseRow(const Skin& skin, std::size_t vertex);

}  // namespace derm
