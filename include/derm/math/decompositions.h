#pragma once

#include <optional>

#include "derm/math/vec.h"

/// The matrix decompositions that several rooms need, compiled once: every source that names one of
/// Eigen's own takes five to thirty seconds longer to compile.
namespace derm {

/// Eigenvalues in ascending order; column k of `vectors` belongs to value k.
struct SymmetricEigen3 {
  Vec3d values;
  Mat3d vectors;
};

struct SymmetricEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};

/// Of a symmetric matrix; its lower triangle counts. O(1), allocation-free.
SymmetricEigen3 symmetricEigen3(const Mat3d& matrix);
/// Of a symmetric matrix; its lower triangle counts. O(n^3).
SymmetricEigen symmetricEigen(const Eigen::MatrixXd& matrix);

/// matrix = u diag(values) v^T with rotations or mirrors u, v; values in descending order.
struct SingularValues3 {
  Mat3d u;
  Vec3d values;
  Mat3d v;
};

/// Allocation-free.
SingularValues3 singularValues3(const Mat3d& matrix);

/// The rotation R (determinant +1) with the largest trace of R^T matrix.
struct RotationFit {
  Mat3d rotation;
  double trace = 0;  ///< that trace: by it the sources' spread gives the best scale
};

/// For matrix = sum target_i source_i^T of centred points it takes the sources nearest to the
/// targets (Kabsch 1976, Umeyama 1991); for any other it is the rotation nearest to it. Where
/// several are as good, one of them. Allocation-free.
RotationFit bestRotation(const Mat3d& matrix);

/// The smallest rotation that takes the direction `from` to that of `to`; neither may be 0. Of
/// opposite ones, about one of the axes square to them.
Quatd rotationBetween(const Vec3d& from, const Vec3d& to);

/// x with matrix x = right, of a symmetric matrix that is positive (semi)definite; its lower
/// triangle counts. O(n^3).
Eigen::MatrixXd solveSymmetric(const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& right);

/// The same of any square matrix; nothing where its reciprocal condition number is not above
/// `min_rcond`. O(n^3).
std::optional<Eigen::MatrixXd> solveGeneral(const Eigen::MatrixXd& matrix,
                                            const Eigen::MatrixXd& right, double min_rcond);

}  // namespace derm
