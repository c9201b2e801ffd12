#include "derm/implicit/block_map.h"

#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::block_map_test {
namespace {

TEST(BlockMap, HoldsWhatAPlainMapHoldsThroughInsertionsAndRemovals) {
  Rng rng(7);
  BlockMap map;
  std::map<std::tuple<int, int, int>, std::uint32_t> plain;
  for (int i = 0; i < 20000; ++i) {
    const auto coordinate = [&] { return static_cast<std::int32_t>(rng.below(24)) - 12; };
    const BlockCoord at{coordinate(), coordinate(), coordinate()};
    const std::tuple key{at.x, at.y, at.z};
    if (rng.below(3) == 0) {
      map.erase(at);
      plain.erase(key);
    } else {
      const std::uint32_t value = 1 + static_cast<std::uint32_t>(rng.below(1000));
      map.set(at, value);
      plain[key] = value;
    }
  }
  EXPECT_EQ(map.size(), plain.size());
  for (std::int32_t z = -12; z < 12; ++z)
    for (std::int32_t y = -12; y < 12; ++y)
      for (std::int32_t x = -12; x < 12; ++x) {
        const auto found = plain.find({x, y, z});
        EXPECT_EQ(map.find({x, y, z}), found == plain.end() ? 0u : found->second);
      }
}

TEST(BlockMap, OrdersByZThenYThenXAlsoBelowZero) {
  EXPECT_LT((BlockCoord{5, 5, -1}).key(), (BlockCoord{-5, -5, 0}).key());
  EXPECT_LT((BlockCoord{5, -1, 0}).key(), (BlockCoord{-5, 0, 0}).key());
  EXPECT_LT((BlockCoord{-1, 0, 0}).key(), (BlockCoord{0, 0, 0}).key());
  EXPECT_FALSE((BlockCoord{1 << 20, 0, 0}).inRange());
}

}  // namespace
}  // namespace derm::block_map_test
