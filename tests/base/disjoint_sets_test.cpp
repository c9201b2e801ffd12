#include "derm/base/disjoint_sets.h"

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::disjoint_sets_test {
namespace {

TEST(DisjointSets, EachIsAloneAtFirst) {
  DisjointSets sets(4);
  ASSERT_EQ(sets.size(), 4u);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(sets.rootOf(i), i);
  EXPECT_EQ(DisjointSets(0).size(), 0u);
}

TEST(DisjointSets, TheRootIsTheSmallestMember) {
  DisjointSets sets(6);
  sets.unite(5, 3);
  sets.unite(3, 3);
  sets.unite(4, 5);
  EXPECT_EQ(sets.rootOf(4), 3u);
  EXPECT_EQ(sets.rootOf(2), 2u);
  sets.unite(4, 1);
  for (const std::uint32_t i : {1, 3, 4, 5}) EXPECT_EQ(sets.rootOf(i), 1u);
}

TEST(DisjointSets, RandomUnionsAgreeWithRelabellingEverything) {
  constexpr std::uint32_t kCount = 200;
  Rng rng(7);
  DisjointSets sets(kCount);
  std::vector<std::uint32_t> label(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) label[i] = i;
  for (int n = 0; n < 150; ++n) {
    const auto a = std::uint32_t(rng.below(kCount)), b = std::uint32_t(rng.below(kCount));
    sets.unite(a, b);
    const std::uint32_t from = std::max(label[a], label[b]), to = std::min(label[a], label[b]);
    std::replace(label.begin(), label.end(), from, to);
    for (std::uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(sets.rootOf(i), label[i]);
  }
}

}  // namespace
}  // namespace derm::disjoint_sets_test
