#include "scene/corrective_basis.h"

#include <algorithm>
#include <array>
#include <vector>

#include "derm/base/parallel.h"
#include "derm/math/decompositions.h"

namespace derm::detail {
namespace {

using Eigen::MatrixXd;
using Eigen::MatrixXf;

/// Squared singular values below this share of the largest are rounding.
constexpr double kNoEnergy = 1e-16;
constexpr std::size_t kVertexChunk = 512;
constexpr Eigen::Index kTile = 64;
constexpr Eigen::Index kRowBlock = 4096;

/// A^T A in double, tile by tile: each tile sums over all rows in one order, so that the thread
/// count does not matter.
MatrixXd gramMatrix(const MatrixXf& a) {
  const Eigen::Index n = a.cols();
  const Eigen::Index tiles = (n + kTile - 1) / kTile;
  std::vector<std::array<Eigen::Index, 2>> pairs;
  for (Eigen::Index i = 0; i < tiles; ++i)
    for (Eigen::Index j = i; j < tiles; ++j) pairs.push_back({i, j});
  MatrixXd gram = MatrixXd::Zero(n, n);
  parallelFor(pairs.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const Eigen::Index i = pairs[p][0] * kTile;
      const Eigen::Index j = pairs[p][1] * kTile;
      const Eigen::Index rows_i = std::min(kTile, n - i);
      const Eigen::Index rows_j = std::min(kTile, n - j);
      MatrixXd sum = MatrixXd::Zero(rows_i, rows_j);
      for (Eigen::Index r = 0; r < a.rows(); r += kRowBlock) {
        const Eigen::Index count = std::min(kRowBlock, a.rows() - r);
        const MatrixXd left = a.block(r, i, count, rows_i).cast<double>();
        const MatrixXd right = a.block(r, j, count, rows_j).cast<double>();
        sum.noalias() += left.transpose() * right;
      }
      gram.block(i, j, rows_i, rows_j) = sum;
      gram.block(j, i, rows_j, rows_i) = sum.transpose();
    }
  });
  return gram;
}

}  // namespace

FrameBasis::FrameBasis(const MatrixXf& a) {
  const SymmetricEigen eigen = symmetricEigen(gramMatrix(a));
  const Eigen::VectorXd energies = eigen.values.reverse();
  Eigen::Index rank = 0;
  while (rank < energies.size() && energies[rank] > 0 && energies[rank] > kNoEnergy * energies[0])
    ++rank;
  vectors = eigen.vectors.rowwise().reverse().leftCols(rank);
  scales.resize(rank);
  for (Eigen::Index k = 0; k < rank; ++k) {
    Eigen::Index at = 0;
    vectors.col(k).cwiseAbs().maxCoeff(&at);
    scales[k] = vectors(at, k);
  }
}

MatrixXf FrameBasis::weights(Eigen::Index shapes) const {
  MatrixXd out = vectors.leftCols(shapes).transpose();
  for (Eigen::Index k = 0; k < shapes; ++k) out.row(k) /= scales[k];
  return out.cast<float>();
}

void addShapes(const MatrixXf& a, const FrameBasis& basis, Eigen::Index first, Eigen::Index count,
               double min_length, MatrixXf& shapes) {
  const MatrixXd vectors =
      basis.vectors.middleCols(first, count) * basis.scales.segment(first, count).asDiagonal();
  parallelFor(static_cast<std::size_t>(a.rows() / 3), kVertexChunk,
              [&](std::size_t begin, std::size_t end) {
                const auto row = static_cast<Eigen::Index>(3 * begin);
                const auto rows = static_cast<Eigen::Index>(3 * (end - begin));
                const MatrixXd from = a.middleRows(row, rows).cast<double>();
                MatrixXd part = from * vectors;
                for (Eigen::Index k = 0; k < count; ++k)
                  for (Eigen::Index v = 0; v < rows; v += 3)
                    if (part.block<3, 1>(v, k).norm() < min_length)
                      part.block<3, 1>(v, k).setZero();
                shapes.block(row, first, rows, count) = part.cast<float>();
              });
}

UnitWeights::UnitWeights(const MatrixXf& weights)
    : min_weights(weights.rowwise().minCoeff().cwiseMin(0.0f)),
      span(weights.rowwise().maxCoeff() - min_weights) {}

MatrixXf UnitWeights::shapes(const MatrixXf& from) const {
  MatrixXf out(from.rows(), from.cols() + 1);
  out.leftCols(from.cols()) = from * span.asDiagonal();
  out.rightCols(1) = (from.cast<double>() * min_weights.cast<double>()).cast<float>();
  return out;
}

MatrixXf UnitWeights::weights(const MatrixXf& from) const {
  MatrixXf out = MatrixXf::Ones(from.rows() + 1, from.cols());
  out.topRows(from.rows()) = span.cwiseInverse().asDiagonal() * (from.colwise() - min_weights);
  return out;
}

}  // namespace derm::detail
