#include "derm/math/weighted_gram.h"

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/base/rng.h"

#include "support/simd_targets.h"

namespace derm::weighted_gram_test {
namespace {

using testing_support::onEveryTarget;

struct Fit {
  Eigen::MatrixXd rows;
  Eigen::VectorXd weights;

  Fit(Eigen::Index count, Eigen::Index columns) : rows(count, columns), weights(count) {
    Rng rng(4);
    for (Eigen::Index i = 0; i < rows.size(); ++i) rows.data()[i] = rng.uniform(-1.0, 1.0);
    // Some rows do not count.
    for (double& w : weights) w = std::max(0.0, rng.uniform(-1.0, 2.0));
  }
};

TEST(WeightedGram, IsThePlainProduct) {
  onEveryTarget([] {
    for (const Eigen::Index count : {0, 1, 5, 128, 300})
      for (const Eigen::Index columns : {1, 3, 4, 31, 33, 70}) {
        SCOPED_TRACE(testing::Message() << count << " x " << columns);
        const Fit fit(count, columns);
        const Eigen::MatrixXd plain = fit.rows.transpose() * fit.weights.asDiagonal() * fit.rows;
        Eigen::MatrixXd gram;
        weightedGram(fit.rows, fit.weights, gram);
        ASSERT_EQ(gram.rows(), columns);
        for (Eigen::Index k = 0; k < columns; ++k)
          for (Eigen::Index i = k; i < columns; ++i) EXPECT_NEAR(gram(i, k), plain(i, k), 1e-12);
      }
  });
}

TEST(WeightedGram, SameBitsForAnyNumberOfThreads) {
  const Fit fit(400, 100);
  Eigen::MatrixXd one, four;
  {
    const ThreadLimit limit(1);
    weightedGram(fit.rows, fit.weights, one);
  }
  const ThreadLimit limit(4);
  weightedGram(fit.rows, fit.weights, four);
  EXPECT_EQ(one.triangularView<Eigen::Lower>().toDenseMatrix(),
            four.triangularView<Eigen::Lower>().toDenseMatrix());
}

}  // namespace
}  // namespace derm::weighted_gram_test
