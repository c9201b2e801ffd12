// Inner loops of factorisations against plain ones, on every instruction set this CPU has.

#include "math/dense_kernels.h"

#include <vector>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

#include "support/simd_targets.h"

namespace derm::detail::dense_kernels_test {
namespace {

using derm::testing_support::onEveryTarget;

std::vector<double> numbers(std::size_t n, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> out(n);
  for (double& v : out) v = rng.uniform(-1.0, 1.0);
  return out;
}

TEST(DenseKernels, ColumnsAreThoseOfTheProduct) {
  onEveryTarget([] {
    for (const std::size_t rows : {1, 3, 8, 16, 17, 40})
      for (const std::size_t depth : {0, 1, 2, 7, 30}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << depth);
        const std::size_t a_stride = rows + 3, c_stride = rows + kProductPadding;
        const std::vector<double> a = numbers(a_stride * depth + rows + kProductPadding, 1);
        const std::vector<double> b = numbers(depth * kProductColumns, 2);
        std::vector<double> c(c_stride * kProductColumns, 9.0);
        multiplyColumns(a.data(), a_stride, rows, depth, b.data(), c.data(), c_stride);
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t k = 0; k < kProductColumns; ++k) {
            double sum = 0;
            for (std::size_t t = 0; t < depth; ++t)
              sum += a[t * a_stride + i] * b[t * kProductColumns + k];
            EXPECT_NEAR(c[k * c_stride + i], sum, 1e-14);
          }
      }
  });
}

TEST(DenseKernels, DotProductsAndScaledSumsAreThePlainOnes) {
  onEveryTarget([] {
    for (const std::size_t n : {0, 1, 5, 8, 15, 16, 33}) {
      SCOPED_TRACE(n);
      const std::vector<double> a = numbers(n, 3);
      std::vector<double> b = numbers(n + 1, 4);
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
      EXPECT_NEAR(dotProduct(a.data(), b.data(), n), sum, 1e-14);
      const std::vector<double> before = b;
      addScaled(-0.7, a.data(), b.data(), n);
      for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(b[i], before[i] - 0.7 * a[i], 1e-15);
      EXPECT_EQ(b[n], before[n]);
    }
  });
}

}  // namespace
}  // namespace derm::detail::dense_kernels_test
