#pragma once

#include <cstddef>
#include <span>

#include "derm/math/vec.h"

namespace derm {

/// A rigid motion as a unit dual quaternion: real + eps * dual, real the rotation and
/// dual = 1/2 * translation * real. q and -q are the same motion.
/// Weighted sums of these, normalised, blend rigid motions without the collapse of blended matrices
/// (Kavan, Collins, Zara, O'Sullivan: "Geometric skinning with approximate dual quaternion
/// blending", 2008).
struct DualQuat {
  Quatd real = Quatd::Identity();
  Quatd dual = Quatd(0, 0, 0, 0);

  /// First the rotation (unit length), then the translation [m].
  static DualQuat fromRigid(const Quatd& rotation, const Vec3d& translation);

  Vec3d translation() const;  ///< [m] of a unit dual quaternion
  Affine3d matrix() const;    ///< of a unit dual quaternion
  Vec3d point(const Vec3d& p) const;
  Vec3d direction(const Vec3d& v) const;
  DualQuat inverse() const;  ///< of a unit dual quaternion
};

/// First b, then a.
DualQuat operator*(const DualQuat& a, const DualQuat& b);

/// Real part of length 1, dual part orthogonal to it; the identity where there is no length.
DualQuat normalised(const DualQuat& q);

/// Normalised weighted sum. Each motion is first brought into the hemisphere of motions[pivot]: a
/// motion and its negative are equal, but would cancel in the sum. Requires equal sizes, weights
/// >= 0, weights[pivot] > 0; then the sum cannot vanish.
DualQuat blend(std::span<const DualQuat> motions, std::span<const double> weights,
               std::size_t pivot);

}  // namespace derm
