#include "derm/math/polar.h"

#include <cmath>

#include <Eigen/LU>
#include <Eigen/SVD>

#include "derm/base/assert.h"

namespace derm {
namespace {

Mat3d symmetrised(const Mat3d& m) { return 0.5 * (m + m.transpose()); }

/// Any rank. The flip of the smallest singular direction makes the rotation proper; it costs
/// nothing here, since that singular value is (nearly) zero.
Polar bySvd(const Mat3d& linear) {
  const Eigen::JacobiSVD<Mat3d> svd(linear, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Vec3d flip = Vec3d::Ones();
  if ((svd.matrixU() * svd.matrixV().transpose()).determinant() < 0) flip.z() = -1;
  Polar out;
  out.rotation = svd.matrixU() * flip.asDiagonal() * svd.matrixV().transpose();
  const Vec3d stretch = flip.cwiseProduct(svd.singularValues());
  out.stretch = symmetrised(svd.matrixV() * stretch.asDiagonal() * svd.matrixV().transpose());
  return out;
}

}  // namespace

Polar polarDecomposition(const Mat3d& linear) {
  DERM_ASSERT(linear.allFinite());
  const double largest = linear.cwiseAbs().maxCoeff();
  if (!(largest > 0)) return {Mat3d::Identity(), Mat3d::Zero()};
  Mat3d x = linear / largest;
  // The iteration loses digits with the condition number; beyond this the SVD is the better tool.
  constexpr double kNearlySingular = 1e-6;
  const double determinant = x.determinant();
  if (std::abs(determinant) < kNearlySingular) return bySvd(linear);
  constexpr int kMaxSteps = 30;  // quadratic convergence: 5 to 9 are usual
  for (int step = 0; step < kMaxSteps; ++step) {
    const Mat3d inverse_transpose = x.inverse().transpose();
    const double scale = std::sqrt(inverse_transpose.norm() / x.norm());
    const Mat3d next = 0.5 * (scale * x + inverse_transpose / scale);
    const double change = (next - x).cwiseAbs().maxCoeff();
    x = next;
    if (change < 1e-15) break;
  }
  Polar out;
  out.rotation = determinant < 0 ? Mat3d(-x) : x;
  out.stretch = symmetrised(out.rotation.transpose() * linear);
  return out;
}

}  // namespace derm
