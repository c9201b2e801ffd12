#pragma once

#include "derm/math/vec.h"

namespace derm {

/// Translation, rotation, scale, applied to a point in the order scale, rotate, translate.
/// What joints store: each part can be animated on its own.
struct Transform {
  Vec3f translation = Vec3f::Zero();  ///< [m]
  /// Unit length to 1e-2: files round their quaternions, and engines play them as they are, with
  /// the slight scale that comes of it; so do we.
  Quatf rotation = Quatf::Identity();
  Vec3f scale = Vec3f::Ones();  ///< may be negative (a mirror) or non-uniform

  Affine3f matrix() const;
  Affine3d matrixd() const;
  bool operator==(const Transform& other) const {
    return translation == other.translation && rotation.coeffs() == other.rotation.coeffs() &&
           scale == other.scale;
  }
};

/// How well a matrix was expressed by a Transform.
struct Decomposed {
  Transform transform;
  /// Largest entry of (matrix - transform.matrix()) over the matrix's largest, both without the
  /// translation, which depends on the unit.
  double shear = 0;
};

/// Nearest translation, rotation and scale of a matrix (columns orthogonalised, a mirror goes to
/// the scale's x). A matrix with shear or a zero column cannot be expressed: see `shear`.
Decomposed decompose(const Affine3d& matrix);

/// Between two rotations, the shorter way; near-equal ones are blended linearly and normalised.
/// Ends that are not quite of unit length are not made so: t = 0 and 1 give them back, and what
/// lies between is what glTF viewers show.
Quatf slerp(const Quatf& a, const Quatf& b, float t);

/// Unit quaternion, or the identity where the input has no length or is not finite.
Quatf normalisedOrIdentity(const Quatf& q);

/// inverse() of an affine matrix; `ok` false where it is singular or not finite (then identity).
Affine3d inverseOrIdentity(const Affine3d& matrix, bool& ok);

}  // namespace derm
