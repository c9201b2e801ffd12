#include "derm/math/sparse_ldl.h"

#include <cmath>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "derm/base/rng.h"

#include "support/allocations.h"

namespace derm::sparse_ldl_test {
namespace {

/// A grid's Laplacian plus a positive diagonal: positive definite, with fill.
struct Grid {
  std::size_t side;
  std::vector<MatrixEntry> entries;
  std::vector<double> values;
};

Grid grid(std::size_t side, std::uint64_t seed) {
  Grid out{side, {}, {}};
  Rng rng(seed);
  const auto at = [&](std::size_t x, std::size_t y) { return std::uint32_t(y * side + x); };
  for (std::size_t y = 0; y < side; ++y)
    for (std::size_t x = 0; x < side; ++x) {
      out.entries.push_back({at(x, y), at(x, y)});
      out.values.push_back(4.1 + double(rng.below(100)) * 0.01);
      if (x + 1 < side) {
        out.entries.push_back({at(x, y), at(x + 1, y)});
        out.values.push_back(-1.0 + double(rng.below(100)) * 0.005);
      }
      if (y + 1 < side) {
        out.entries.push_back({at(x, y + 1), at(x, y)});
        out.values.push_back(-1.0 + double(rng.below(100)) * 0.005);
      }
    }
  return out;
}

Eigen::MatrixXd dense(const Grid& g) {
  const auto n = Eigen::Index(g.side * g.side);
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(n, n);
  for (std::size_t k = 0; k < g.entries.size(); ++k) {
    out(g.entries[k].row, g.entries[k].column) = g.values[k];
    out(g.entries[k].column, g.entries[k].row) = g.values[k];
  }
  return out;
}

TEST(SparseLdl, SolvesWhatADenseFactorisationSolves) {
  for (const std::size_t side : {1, 2, 3, 12}) {
    const Grid g = grid(side, 7);
    SparseLdl ldl(side * side, g.entries);
    ASSERT_TRUE(ldl.factorise(g.values));
    Eigen::VectorXd b(Eigen::Index(side * side));
    for (Eigen::Index i = 0; i < b.size(); ++i) b[i] = std::sin(double(i) + 1);
    Eigen::VectorXd x = b;
    ldl.solve({x.data(), std::size_t(x.size())});
    EXPECT_LT((dense(g).ldlt().solve(b) - x).norm(), 1e-13 * x.norm() + 1e-15);
  }
}

TEST(SparseLdl, TakesNewNumbersForTheSamePatternWithoutAllocating) {
  const Grid first = grid(10, 1), second = grid(10, 2);
  SparseLdl ldl(100, first.entries);
  ASSERT_TRUE(ldl.factorise(first.values));
  std::vector<double> x(100, 1.0);
  const std::size_t before = testing_support::allocationCount();
  const bool ok = ldl.factorise(second.values);
  ldl.solve(x);
  EXPECT_EQ(testing_support::allocationCount(), before);
  ASSERT_TRUE(ok);
  const Eigen::VectorXd residual =
      dense(second) * Eigen::Map<const Eigen::VectorXd>(x.data(), 100) - Eigen::VectorXd::Ones(100);
  EXPECT_LT(residual.norm(), 1e-12);
}

TEST(SparseLdl, WidePanelsAndManyPiecesLeaveNoResidual) {
  for (const std::size_t side : {40, 70}) {
    Grid g = grid(side, 3);
    // Neighbours of neighbours, as energies of bending have them: panels of tens of columns.
    for (std::uint32_t i = 0; i + 2 * side + 2 < side * side; i += 1) {
      if (i % 400 > 380) continue;  // some pieces hang together by little
      for (const std::size_t d : {std::size_t{2}, 2 * side, side + 1, side - 1}) {
        g.entries.push_back({i, static_cast<std::uint32_t>(i + d)});
        g.values.push_back(-0.02);
      }
    }
    const std::size_t n = side * side;
    SparseLdl ldl(n, g.entries);
    EXPECT_GT(ldl.factorEntries(), n);
    ASSERT_TRUE(ldl.factorise(g.values));
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = std::sin(double(i) + 1);
    const std::vector<double> b = x;
    ldl.solve(x);
    std::vector<double> product(n, 0.0);
    for (std::size_t k = 0; k < g.entries.size(); ++k) {
      const auto [row, column] = g.entries[k];
      product[row] += g.values[k] * x[column];
      if (row != column) product[column] += g.values[k] * x[row];
    }
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(product[i], b[i], 1e-12) << i;
  }
}

TEST(SparseLdl, SaysWhereAMatrixIsNotPositiveDefinite) {
  const std::vector<MatrixEntry> entries = {{0, 0}, {1, 1}, {0, 1}};
  SparseLdl ldl(2, entries);
  EXPECT_FALSE(ldl.factorise(std::vector<double>{1, 1, 2}));
  EXPECT_FALSE(ldl.factorise(std::vector<double>{1, std::nan(""), 0}));
  EXPECT_TRUE(ldl.factorise(std::vector<double>{1, 1, 0.5}));
}

TEST(SparseLdl, NothingToSolveIsFine) {
  SparseLdl ldl(0, {});
  EXPECT_TRUE(ldl.factorise({}));
  ldl.solve({});
  EXPECT_EQ(ldl.factorEntries(), 0u);
}

}  // namespace
}  // namespace derm::sparse_ldl_test
