#include "support/dual_quat.h"

#include <cmath>

#include "derm/base/assert.h"

namespace derm {

DualQuat DualQuat::fromRigid(const Quatd& rotation, const Vec3d& translation) {
  DualQuat out;
  out.real = rotation;
  out.dual = Quatd(0, translation.x(), translation.y(), translation.z()) * rotation;
  out.dual.coeffs() *= 0.5;
  return out;
}

Vec3d DualQuat::translation() const { return 2.0 * (dual * real.conjugate()).vec(); }

Affine3d DualQuat::matrix() const {
  Affine3d m;
  m.linear() = real.toRotationMatrix();
  m.translation() = translation();
  return m;
}

Vec3d DualQuat::point(const Vec3d& p) const { return direction(p) + translation(); }

Vec3d DualQuat::direction(const Vec3d& v) const {
  const Vec3d axis = real.vec();
  const Vec3d half = axis.cross(v) + real.w() * v;
  return v + 2.0 * axis.cross(half);
}

DualQuat DualQuat::inverse() const { return {real.conjugate(), dual.conjugate()}; }

DualQuat operator*(const DualQuat& a, const DualQuat& b) {
  DualQuat out;
  out.real = a.real * b.real;
  out.dual.coeffs() = (a.real * b.dual).coeffs() + (a.dual * b.real).coeffs();
  return out;
}

DualQuat normalised(const DualQuat& q) {
  const double length = q.real.norm();
  if (!(length > 1e-150) || !std::isfinite(length)) return {};
  DualQuat out;
  out.real.coeffs() = q.real.coeffs() / length;
  out.dual.coeffs() = q.dual.coeffs() / length;
  out.dual.coeffs() -= out.real.dot(out.dual) * out.real.coeffs();
  return out;
}

DualQuat blend(std::span<const DualQuat> motions, std::span<const double> weights,
               std::size_t pivot) {
  DERM_REQUIRE(motions.size() == weights.size() && pivot < motions.size());
  DualQuat sum;
  sum.real.coeffs().setZero();
  for (std::size_t i = 0; i < motions.size(); ++i) {
    const bool opposite = motions[i].real.dot(motions[pivot].real) < 0;
    const double weight = opposite ? -weights[i] : weights[i];
    sum.real.coeffs() += weight * motions[i].real.coeffs();
    sum.dual.coeffs() += weight * motions[i].dual.coeffs();
  }
  return normalised(sum);
}

}  // namespace derm
