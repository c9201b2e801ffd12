#include "derm/math/decompositions.h"

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::decompositions_test {
namespace {

Mat3d randomMatrix(Rng& random) {
  Mat3d m;
  for (int i = 0; i < 9; ++i) m.data()[i] = random.uniform(-1, 1);
  return m;
}

TEST(SymmetricEigenvalues, AscendAndMakeTheMatrixAgain) {
  Rng random(1);
  for (int i = 0; i < 50; ++i) {
    const Mat3d m = randomMatrix(random);
    const Mat3d symmetric = m + m.transpose();
    const SymmetricEigen3 small = symmetricEigen3(symmetric);
    EXPECT_LE(small.values[0], small.values[1]);
    EXPECT_LE(small.values[1], small.values[2]);
    const Mat3d again = small.vectors * small.values.asDiagonal() * small.vectors.transpose();
    EXPECT_LT((again - symmetric).norm(), 1e-12);
    const SymmetricEigen any = symmetricEigen(Eigen::MatrixXd(symmetric));
    EXPECT_LT((any.values - Eigen::VectorXd(small.values)).norm(), 1e-12);
  }
}

TEST(BestRotation, FindsTheSimilarityBetweenPoints) {
  Rng random(2);
  for (int i = 0; i < 50; ++i) {
    const Mat3d turn = bestRotation(randomMatrix(random)).rotation;
    EXPECT_NEAR(turn.determinant(), 1, 1e-12);
    constexpr double kScale = 3.5;
    Mat3d cross = Mat3d::Zero();
    double spread = 0;
    for (int k = 0; k < 4; ++k) {
      const Vec3d from = randomMatrix(random).col(0);
      cross += kScale * (turn * from) * from.transpose();
      spread += from.squaredNorm();
    }
    const RotationFit fit = bestRotation(cross);
    EXPECT_LT((fit.rotation - turn).norm(), 1e-10);
    EXPECT_NEAR(fit.trace / spread, kScale, 1e-10);
  }
}

TEST(BestRotation, IsNeverAMirrorAndNoOtherIsBetter) {
  Rng random(3);
  for (int i = 0; i < 50; ++i) {
    Mat3d m = randomMatrix(random);
    if (i % 2 == 0) m.col(1) = -m.col(1);
    if (i % 5 == 0) m.col(2) = m.col(0);  // flat
    const RotationFit fit = bestRotation(m);
    EXPECT_NEAR(fit.rotation.determinant(), 1, 1e-12);
    EXPECT_NEAR((fit.rotation.transpose() * m).trace(), fit.trace, 1e-12);
    for (int k = 0; k < 20; ++k) {
      const Mat3d other =
          Quatd(Eigen::AngleAxisd(0.3 * k, randomMatrix(random).col(0).normalized()))
              .toRotationMatrix() *
          fit.rotation;
      EXPECT_LE((other.transpose() * m).trace(), fit.trace + 1e-12);
    }
  }
}

TEST(SingularValues, AreInDescendingOrderAndGiveTheMatrix) {
  Rng random(5);
  for (int i = 0; i < 20; ++i) {
    const Mat3d m = randomMatrix(random);
    const SingularValues3 svd = singularValues3(m);
    EXPECT_GE(svd.values[0], svd.values[1]);
    EXPECT_GE(svd.values[1], svd.values[2]);
    EXPECT_GE(svd.values[2], 0);
    EXPECT_LT((svd.u * svd.values.asDiagonal() * svd.v.transpose() - m).norm(), 1e-12);
    EXPECT_LT((svd.u.transpose() * svd.u - Mat3d::Identity()).norm(), 1e-12);
    EXPECT_LT((svd.v.transpose() * svd.v - Mat3d::Identity()).norm(), 1e-12);
  }
}

TEST(RotationBetween, TakesOneDirectionToTheOtherTheShortWay) {
  Rng random(6);
  for (int i = 0; i < 20; ++i) {
    const Mat3d m = randomMatrix(random);
    const Vec3d from = m.col(0), to = m.col(1);
    const Quatd turn = rotationBetween(from, to);
    EXPECT_LT((turn * from.normalized() - to.normalized()).norm(), 1e-12);
    EXPECT_NEAR(std::abs(turn.vec().dot(from.normalized())), 0, 1e-12);
  }
  const Quatd half = rotationBetween(Vec3d(0, 2, 0), Vec3d(0, -1, 0));
  EXPECT_LT((half * Vec3d(0, 1, 0) - Vec3d(0, -1, 0)).norm(), 1e-12);
}

TEST(GeneralSolution, IsRightOrRefused) {
  Rng random(7);
  Mat3d m = randomMatrix(random);
  const Eigen::MatrixXd wanted = randomMatrix(random);
  const std::optional<Eigen::MatrixXd> found = solveGeneral(m, m * wanted, 1e-6);
  ASSERT_TRUE(found.has_value());
  EXPECT_LT((*found - wanted).norm(), 1e-10);
  m.col(2) = m.col(0);
  EXPECT_FALSE(solveGeneral(m, wanted, 1e-6).has_value());
}

TEST(SymmetricSolution, IsRight) {
  Rng random(4);
  const Mat3d m = randomMatrix(random);
  const Eigen::MatrixXd matrix = m * m.transpose() + 0.1 * Mat3d::Identity();
  const Eigen::MatrixXd wanted = randomMatrix(random);
  EXPECT_LT((solveSymmetric(matrix, matrix * wanted) - wanted).norm(), 1e-10);
}

}  // namespace
}  // namespace derm::decompositions_test
