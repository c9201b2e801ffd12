#pragma once

#include <cmath>
#include <span>

#include "derm/anim/skin.h"
#include "derm/math/decompositions.h"
#include "derm/math/vec.h"

/// The way between posed and bind space. Private to room scene.
namespace derm::detail {

/// L^-1, or where L hardly keeps a direction the inverse of what it keeps.
struct SafeInverse {
  /// Singular values below this share of the largest are damped rather than inverted.
  static constexpr double kMinShare = 1.0 / 50;

  Mat3d matrix = Mat3d::Identity();
  bool near_singular = false;

  explicit SafeInverse(const Mat3d& linear) {
    const Mat3d plain = linear.inverse();
    // The product of the norms bounds the ratio of singular values from above.
    const double ratio = plain.norm() * linear.norm();
    if (std::isfinite(ratio) && ratio < 1 / kMinShare) {
      matrix = plain;
      return;
    }
    const SingularValues3 svd = singularValues3(linear);
    const Vec3d& values = svd.values;
    const double min_value = kMinShare * values[0];
    near_singular = !(values[2] >= min_value) || !(values[0] > 0);
    Eigen::Vector3d gains;
    // Goes on continuously below the limit: 1/s above it, s/limit^2 below.
    for (int i = 0; i < 3; ++i) {
      const double gain =
          values[i] >= min_value ? 1 / values[i] : values[i] / (min_value * min_value);
      gains[i] = std::isfinite(gain) ? gain : 0;
    }
    matrix = svd.v * gains.asDiagonal() * svd.u.transpose();
  }
};

/// The linear part of a vertex's blend of skinning matrices.
template <class Matrix>
Matrix blendedLinear(const Skin& skin, std::size_t vertex, std::span<const Affine3f> palette) {
  using Scalar = typename Matrix::Scalar;
  if (skin.empty()) return Matrix::Identity();
  Matrix sum = Matrix::Zero();
  for (const Influence& i : skin[vertex])
    sum += static_cast<Scalar>(i.weight) * palette[i.slot].linear().template cast<Scalar>();
  return sum;
}

}  // namespace derm::detail
