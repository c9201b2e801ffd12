#include "derm/math/decompositions.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>

namespace derm {

SymmetricEigen3 symmetricEigen3(const Mat3d& matrix) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver{Eigen::Matrix3d(matrix)};
  return {solver.eigenvalues(), solver.eigenvectors()};
}

SymmetricEigen symmetricEigen(const Eigen::MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

RotationFit bestRotation(const Mat3d& matrix) {
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(Eigen::Matrix3d(matrix),
                                              Eigen::ComputeFullU | Eigen::ComputeFullV);
  // A mirror is no rotation: the direction that matters least is turned round.
  Eigen::Vector3d signs(1, 1, 1);
  if ((svd.matrixU() * svd.matrixV().transpose()).determinant() < 0) signs.z() = -1;
  return {svd.matrixU() * signs.asDiagonal() * svd.matrixV().transpose(),
          svd.singularValues().dot(signs)};
}

Eigen::MatrixXd solveSymmetric(const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& right) {
  return matrix.ldlt().solve(right);
}

}  // namespace derm
