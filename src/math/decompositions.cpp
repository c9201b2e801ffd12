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

SingularValues3 singularValues3(const Mat3d& matrix) {
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(Eigen::Matrix3d(matrix),
                                              Eigen::ComputeFullU | Eigen::ComputeFullV);
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

RotationFit bestRotation(const Mat3d& matrix) {
  const SingularValues3 svd = singularValues3(matrix);
  // A mirror is no rotation: the direction that matters least is turned round.
  Eigen::Vector3d signs(1, 1, 1);
  if ((svd.u * svd.v.transpose()).determinant() < 0) signs.z() = -1;
  return {svd.u * signs.asDiagonal() * svd.v.transpose(), svd.values.dot(signs)};
}

Quatd rotationBetween(const Vec3d& from, const Vec3d& to) {
  return Quatd::FromTwoVectors(from, to);
}

Eigen::MatrixXd solveSymmetric(const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& right) {
  return matrix.ldlt().solve(right);
}

std::optional<Eigen::MatrixXd> solveGeneral(const Eigen::MatrixXd& matrix,
                                            const Eigen::MatrixXd& right, double min_rcond) {
  const Eigen::FullPivLU<Eigen::MatrixXd> lu(matrix);
  if (!lu.isInvertible() || !(lu.rcond() > min_rcond)) return {};
  return Eigen::MatrixXd(lu.solve(right));
}

}  // namespace derm
