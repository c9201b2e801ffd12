#pragma once

#include <Eigen/Core>

namespace derm {

/// The lower triangle of sum_r weights_r s_r s_r^T over the rows s_r: the matrix of a weighted
/// least-squares fit. What stands above the diagonal means nothing. Requires one weight per row.
/// O(rows columns^2 / 2), by the CPU's own vectors; the same bits for any number of threads.
void weightedGram(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights,
                  Eigen::MatrixXd& gram);

}  // namespace derm
