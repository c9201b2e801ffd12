#include "derm/math/weighted_gram.h"

#include <algorithm>
#include <vector>

#include "derm/base/assert.h"
#include "derm/base/parallel.h"

#include "math/dense_kernels.h"

namespace derm {
namespace {

/// Rows that are summed up at a time, for as many columns as share them: both stay in the cache.
constexpr std::size_t kRowsAtATime = 128;
constexpr std::size_t kColumnsPerTask = 8 * detail::kProductColumns;

}  // namespace

void weightedGram(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights,
                  Eigen::MatrixXd& gram) {
  DERM_REQUIRE(weights.size() == rows.rows());
  using detail::kProductColumns;
  const auto count = static_cast<std::size_t>(rows.rows());
  const auto columns = static_cast<std::size_t>(rows.cols());
  gram.setZero(rows.cols(), rows.cols());
  // Row after row, with room for what the kernel reads behind the end.
  const std::size_t stride = columns + detail::kProductPadding;
  std::vector<double> by_rows(stride * count);
  Eigen::Map<Eigen::MatrixXd>(by_rows.data(), static_cast<Eigen::Index>(stride), rows.rows())
      .topRows(rows.cols()) = rows.transpose();

  parallelFor(columns, kColumnsPerTask, [&](std::size_t begin, std::size_t end) {
    std::vector<double> factors(kRowsAtATime * kProductColumns), part(kProductColumns * stride);
    for (std::size_t first = 0; first < count; first += kRowsAtATime) {
      const std::size_t depth = std::min(kRowsAtATime, count - first);
      for (std::size_t j = begin; j < end; j += kProductColumns) {
        const std::size_t width = std::min(kProductColumns, end - j);
        for (std::size_t t = 0; t < depth; ++t)
          for (std::size_t k = 0; k < kProductColumns; ++k)
            factors[t * kProductColumns + k] = k < width
                                                   ? weights[static_cast<Eigen::Index>(first + t)] *
                                                         by_rows[(first + t) * stride + j + k]
                                                   : 0.0;
        detail::multiplyColumns(&by_rows[first * stride + j], stride, columns - j, depth,
                                factors.data(), part.data(), stride);
        for (std::size_t k = 0; k < width; ++k)
          detail::addScaled(1.0, &part[k * stride],
                            &gram(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(j + k)),
                            columns - j);
      }
    }
  });
}

}  // namespace derm
