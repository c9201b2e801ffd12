#include "derm/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::parallel_test {
namespace {

TEST(Parallel, VisitsEveryItemOnce) {
  for (const std::size_t n : {0u, 1u, 63u, 64u, 65u, 1000u, 100003u}) {
    std::vector<int> visits(n, 0);
    parallelFor(n, 64, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++visits[i];
    });
    EXPECT_EQ(std::accumulate(visits.begin(), visits.end(), std::size_t{0}), n);
    EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), static_cast<std::ptrdiff_t>(n));
  }
}

TEST(Parallel, SumHasTheSameBitsForEveryThreadCount) {
  Rng rng(1);
  std::vector<double> values(100000);
  for (double& v : values) v = rng.uniform(-1, 1) * std::pow(10, rng.uniform(-8, 8));
  const auto sum = [&] {
    return deterministicSum<double>(values.size(), [&](std::size_t begin, std::size_t end) {
      return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(begin),
                             values.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
    });
  };
  std::vector<double> sums;
  for (const int threads : {1, 2, 3, 8}) {
    const ThreadLimit limit(threads);
    EXPECT_EQ(threadCount(), hasThreads() ? threads : 1);
    sums.push_back(sum());
  }
  for (const double s : sums) EXPECT_EQ(s, sums.front());
}

}  // namespace
}  // namespace derm::parallel_test
