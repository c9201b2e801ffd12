#include "derm/math/polar.h"

#include <vector>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::polar_test {
namespace {

Mat3d randomMatrix(Rng& rng) {
  Mat3d m;
  for (int i = 0; i < 9; ++i) m.data()[i] = rng.uniform(-1, 1);
  return m;
}

void expectDecomposed(const Mat3d& m) {
  const Polar polar = polarDecomposition(m);
  const double size = m.cwiseAbs().maxCoeff();
  EXPECT_LT((polar.rotation * polar.stretch - m).cwiseAbs().maxCoeff(), 1e-13 * size + 1e-300);
  EXPECT_LT((polar.rotation.transpose() * polar.rotation - Mat3d::Identity()).norm(), 1e-13);
  EXPECT_GT(polar.rotation.determinant(), 0.99);
  EXPECT_EQ(polar.stretch, Mat3d(polar.stretch.transpose()));
}

TEST(Polar, GivesBackAnyMatrixAsRotationTimesSymmetricStretch) {
  Rng rng(1);
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    expectDecomposed(randomMatrix(rng));
    expectDecomposed(1e-12 * randomMatrix(rng));
    expectDecomposed(1e12 * randomMatrix(rng));
  }
}

TEST(Polar, StretchHasOneSign) {
  Rng rng(2);
  for (int i = 0; i < 100; ++i) {
    const Mat3d m = randomMatrix(rng);
    if (std::abs(m.determinant()) < 1e-3) continue;
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> eigen(
        Eigen::Matrix3d(polarDecomposition(m).stretch));
    if (m.determinant() > 0)
      EXPECT_GT(eigen.eigenvalues().minCoeff(), 0);
    else
      EXPECT_LT(eigen.eigenvalues().maxCoeff(), 0);
  }
}

TEST(Polar, SplitsARotationTimesAStretchIntoThese) {
  const Mat3d r = Eigen::AngleAxisd(2.5, Vec3d(1, -2, 0.5).normalized()).toRotationMatrix();
  Mat3d u;
  u << 1.5, 0.2, -0.1, 0.2, 0.8, 0.05, -0.1, 0.05, 1.1;
  const Polar polar = polarDecomposition(r * u);
  EXPECT_LT((polar.rotation - r).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT((polar.stretch - u).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(Polar, SingularMatricesAreGivenBackToo) {
  const Mat3d r = Eigen::AngleAxisd(0.7, Vec3d(1, 2, 3).normalized()).toRotationMatrix();
  for (const Vec3d& scale : {Vec3d(1, 2, 0), Vec3d(0, 3, 0), Vec3d(1, 1, 1e-9), Vec3d(1, 1, -1e-9),
                             Vec3d(-1, 1e-20, 2)}) {
    SCOPED_TRACE(scale.transpose());
    expectDecomposed(r * scale.asDiagonal());
  }
  EXPECT_EQ(polarDecomposition(Mat3d::Zero()).stretch, Mat3d(Mat3d::Zero()));
}

}  // namespace
}  // namespace derm::polar_test
