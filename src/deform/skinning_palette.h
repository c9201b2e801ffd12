#pragma once

#include <cstdint>
#include <span>

#include "deform/skinning_blocks.h"

namespace derm::detail {

inline constexpr std::size_t kMatrixStride = 12;   ///< column-major 3x4
inline constexpr std::size_t kNormalStride = 9;    ///< column-major 3x3
inline constexpr std::size_t kDualQuatStride = 8;  ///< real x y z w, dual x y z w
inline constexpr std::size_t kStretchStride = 18;  ///< see SkinningPalette::stretches

/// A frame's matrices in the forms that the kernels broadcast from.
struct SkinningPalette {
  enum Flag : std::uint8_t {
    kOwnNormals = 1,  ///< normals need normal_matrices: not a rotation times a uniform scale
    kStretched = 2,   ///< not rigid
  };

  CacheLineVector<float> matrices;
  /// Equal to the linear part where kOwnNormals is not set.
  CacheLineVector<float> normal_matrices;
  CacheLineVector<float> dual_quats;
  /// E = stretch - identity as xx yy zz xy xz yz, then D as 4x3 column-major: stretching about a
  /// centre c adds D c to the dual part. Unset where kStretched is not set.
  CacheLineVector<float> stretches;
  std::vector<std::uint8_t> flags;
  std::vector<float> twists;  ///< [rad] per twist bone

  SkinningPalette(std::size_t slots, bool dual_quaternions, std::size_t twist_bones);
  bool fits(std::size_t slots, bool dual_quaternions, std::size_t twist_bones) const {
    return flags.size() == slots && twists.size() == twist_bones &&
           dual_quats.size() == (dual_quaternions ? slots * kDualQuatStride : 0);
  }
  /// Fills `twists`; gives the frame's matrices without them. Allocation-free.
  std::span<const Affine3f> takeTwists(std::span<const Affine3f> frame,
                                       std::span<const TwistBone> bones) noexcept;
  /// Fills everything from a frame's matrices. Allocation-free, O(slots). Where `links` is not
  /// empty, each rotation gets the sign that is nearer to the slot above it.
  void prepare(std::span<const Affine3f> frame, std::span<const Vec3d> centres,
               std::span<const SlotLink> links) noexcept;

 private:
  void prepareDualQuat(std::size_t slot, const Affine3f& matrix, bool stretched,
                       const Vec3d& centre) noexcept;
  void turn(std::size_t slot) noexcept;

  // Work space of takeTwists(), empty without twist bones.
  std::vector<Affine3f> untwisted_;
  std::vector<double> removed_;
};

}  // namespace derm::detail
