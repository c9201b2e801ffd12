#include "derm/math/transform.h"

#include <cmath>
#include <limits>

#include <Eigen/LU>

namespace derm {

Affine3d Transform::matrixd() const {
  Affine3d m;
  m.linear() = rotation.cast<double>().toRotationMatrix() * scale.cast<double>().asDiagonal();
  m.translation() = translation.cast<double>();
  return m;
}

Affine3f Transform::matrix() const {
  Affine3f m;
  m.linear() = rotation.toRotationMatrix() * scale.asDiagonal();
  m.translation() = translation;
  return m;
}

Decomposed decompose(const Affine3d& matrix) {
  Decomposed out;
  const Mat3d linear = matrix.linear();
  const double largest = linear.cwiseAbs().maxCoeff();
  if (!matrix.matrix().allFinite()) {  // maxCoeff alone may skip a NaN
    out.shear = 1;
    return out;
  }
  Vec3d scale(linear.col(0).norm(), linear.col(1).norm(), linear.col(2).norm());
  // Gram-Schmidt; a vanished column is replaced by any direction orthogonal to the others.
  Mat3d axes = Mat3d::Identity();
  const double tiny = 1e-12 * std::max(scale.maxCoeff(), 1e-300);
  for (int c = 0; c < 3; ++c) {
    Vec3d v = scale[c] > tiny ? Vec3d(linear.col(c) / scale[c]) : Vec3d::Zero();
    for (int b = 0; b < c; ++b) v -= axes.col(b).dot(v) * axes.col(b);
    for (int axis = 0; v.norm() < 1e-6 && axis < 3; ++axis) {
      v = Vec3d::Unit((c + axis) % 3);
      for (int b = 0; b < c; ++b) v -= axes.col(b).dot(v) * axes.col(b);
    }
    axes.col(c) = v.normalized();
  }
  if (axes.determinant() < 0) {
    axes.col(0) = -axes.col(0);
    scale[0] = -scale[0];
  }
  Quatd q(axes);
  q.normalize();
  if (q.w() < 0) q.coeffs() = -q.coeffs();
  out.transform.translation = matrix.translation().cast<float>();
  out.transform.rotation = q.cast<float>();
  out.transform.scale = scale.cast<float>();
  const Mat3d back = q.toRotationMatrix() * scale.asDiagonal();
  out.shear = largest > 0 ? (back - linear).cwiseAbs().maxCoeff() / largest : 0.0;
  return out;
}

Quatf slerp(const Quatf& a, const Quatf& b, float t) {
  if (a.coeffs() == b.coeffs()) return a;  // exact also where the length is not quite 1
  // In double: near-parallel arcs lose half the digits of a float in acos.
  const Quatd from = a.cast<double>();
  Quatd to = b.cast<double>();
  double cosine = from.dot(to);
  if (cosine < 0) {  // q and -q are one rotation: take the shorter way
    to.coeffs() = -to.coeffs();
    cosine = -cosine;
  }
  const double u = t;
  const double sine_squared = 1.0 - cosine * cosine;
  Quatd q;
  if (sine_squared > std::numeric_limits<double>::epsilon()) {
    const double sine = std::sqrt(sine_squared);
    const double angle = std::atan2(sine, cosine);
    q.coeffs() = (std::sin((1.0 - u) * angle) / sine) * from.coeffs() +
                 (std::sin(u * angle) / sine) * to.coeffs();
  } else {
    q.coeffs() = (1.0 - u) * from.coeffs() + u * to.coeffs();
    if (u > 0 && u < 1) q.normalize();
  }
  return q.cast<float>();
}

Quatf normalisedOrIdentity(const Quatf& q) {
  const double length = q.coeffs().cast<double>().norm();
  if (!std::isfinite(length) || length < 1e-12) return Quatf::Identity();
  Quatf out;
  out.coeffs() = (q.coeffs().cast<double>() / length).cast<float>();
  return out;
}

Affine3d inverseOrIdentity(const Affine3d& matrix, bool& ok) {
  const Mat3d linear = matrix.linear();
  const double largest = linear.cwiseAbs().maxCoeff();
  const double determinant = linear.determinant();
  // Relative test: a character of a micrometre is small, not singular.
  ok = matrix.matrix().allFinite() && largest > 0 &&
       std::abs(determinant) > 1e-12 * largest * largest * largest;
  if (!ok) return Affine3d::Identity();
  Affine3d out;
  out.linear() = linear.inverse();
  out.translation() = -(out.linear() * matrix.translation());
  return out;
}

}  // namespace derm
