#include "derm/base/hash.h"

#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::hash_test {
namespace {

std::uint64_t hashOf(const std::vector<float>& values) {
  Hash64 h;
  h.addSpan(std::span<const float>(values));
  return h.value();
}

TEST(Hash64, ChangesWithEveryBitLengthAndOrder) {
  std::set<std::uint64_t> seen{hashOf({}),        hashOf({1}),     hashOf({1, 2}), hashOf({2, 1}),
                               hashOf({1, 2, 0}), hashOf({-0.0f}), hashOf({0.0f})};
  EXPECT_EQ(seen.size(), 7u);
  std::vector<float> many(1000, 1.0f);
  const std::uint64_t before = hashOf(many);
  many[777] = std::nextafter(1.0f, 2.0f);
  EXPECT_NE(hashOf(many), before);
}

TEST(Hash64, IsTheSameInEveryBuild) {  // state hashes in documents rely on it
  Hash64 h;
  h.add(std::uint32_t{7});
  h.add(1.5);
  EXPECT_EQ(h.value(), 0xe45bca1e3145101aull);
}

TEST(Rng, ASeedGivesTheSameNumbersEverywhere) {
  Rng a(42);
  EXPECT_EQ(a.next(), 0xBDD732262FEB6E95ull);
  for (int i = 0; i < 1000; ++i) {
    const double u = a.uniform();
    EXPECT_GE(u, 0.0);
    EXPECT_LT(u, 1.0);
    EXPECT_LT(a.below(7), 7u);
  }
}

}  // namespace
}  // namespace derm::hash_test
