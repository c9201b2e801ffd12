#include "derm/implicit/band_grid.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace derm::band_grid_test {
namespace {

/// A ball of radius 10 nodes around `centre`, as blocks and values.
void writeBall(BandGrid& grid, double centre) {
  std::vector<BlockCoord> coords;
  const int low = static_cast<int>(std::floor((centre - 14) / 8)),
            high = static_cast<int>(std::floor((centre + 14) / 8));
  for (int z = low; z <= high; ++z)
    for (int y = low; y <= high; ++y)
      for (int x = low; x <= high; ++x) coords.push_back({x, y, z});
  grid.createBlocks(coords);
  for (const std::uint32_t slot : grid.order()) {
    const BlockCoord& at = grid.coord(slot);
    for (int i = 0; i < 512; ++i) {
      const double x = 8 * at.x + (i & 7) - centre, y = 8 * at.y + (i >> 3 & 7) - centre,
                   z = 8 * at.z + (i >> 6) - centre;
      const double f = 10 - std::sqrt(x * x + y * y + z * z);
      grid.values(slot)[i] = std::clamp(static_cast<float>(f), -grid.width(), grid.width());
    }
    grid.updateWords(slot);
  }
}

TEST(BandGrid, KeepsEveryNeighbourOfAnActiveNodeInALiveBlock) {
  BandGrid grid;
  writeBall(grid, 3.3);
  grid.fitToBand();
  for (const std::uint32_t slot : grid.order())
    for (int i = 0; i < 512; ++i) {
      if (std::abs(grid.values(slot)[i]) >= grid.activeLimit()) continue;
      for (int n = 0; n < 27; ++n) {
        const int x = (i & 7) + n % 3 - 1, y = (i >> 3 & 7) + n / 3 % 3 - 1,
                  z = (i >> 6) + n / 9 - 1;
        EXPECT_TRUE(grid.isLive(grid.neighbour(slot, x >> 3, y >> 3, z >> 3)));
      }
    }
}

TEST(BandGrid, RemovesBlocksFarFromTheSurfaceAndRemembersTheirSide) {
  BandGrid grid;
  std::vector<BlockCoord> all;
  for (int z = -5; z <= 5; ++z)
    for (int y = -5; y <= 5; ++y)
      for (int x = -5; x <= 5; ++x) all.push_back({x, y, z});
  grid.createBlocks(all);
  for (const std::uint32_t slot : grid.order()) {
    const BlockCoord& at = grid.coord(slot);
    for (int i = 0; i < 512; ++i) {
      const double x = 8 * at.x + (i & 7), y = 8 * at.y + (i >> 3 & 7), z = 8 * at.z + (i >> 6);
      const double f = 30 - std::sqrt(x * x + y * y + z * z);
      grid.values(slot)[i] = std::clamp(static_cast<float>(f), -grid.width(), grid.width());
    }
    grid.updateWords(slot);
  }
  const std::size_t before = grid.blockCount();
  EXPECT_TRUE(grid.fitToBand());
  EXPECT_LT(grid.blockCount(), before);
  EXPECT_EQ(grid.slotAt({0, 0, 0}), BandGrid::kInside);
  EXPECT_EQ(grid.slotAt({-5, -5, -5}), BandGrid::kOutside);
  EXPECT_EQ(grid.slotAt({100, 0, 0}), BandGrid::kOutside);
  EXPECT_FALSE(grid.fitToBand());  // nothing left to do
}

TEST(BandGrid, LiesInMemoryInTheOrderItIsReadOnceCompacted) {
  BandGrid grid;
  writeBall(grid, 3.3);
  grid.createBlocks(std::vector<BlockCoord>{{9, 9, 9}, {-7, 2, 1}});
  grid.markInside(std::vector<BlockCoord>{{20, 0, 0}});
  grid.fitToBand();
  ASSERT_GT(grid.slotCount(), grid.blockCount() + 2);  // there is something to give back
  BandGrid tight = grid;
  const std::vector<std::uint32_t> was = tight.compact();
  ASSERT_EQ(was.size(), tight.slotCount());
  EXPECT_FALSE(tight.scattered());
  EXPECT_EQ(tight.slotCount(), grid.blockCount() + 2);
  EXPECT_LT(tight.memoryBytes(), grid.memoryBytes());
  ASSERT_EQ(tight.blockCount(), grid.blockCount());
  // What a slot stands for: a block, or one of the two regions.
  const auto same = [&](std::uint32_t a, std::uint32_t b) {
    return grid.isLive(a) ? tight.isLive(b) && grid.coord(a) == tight.coord(b) : a == b;
  };
  for (std::size_t i = 0; i < grid.blockCount(); ++i) {
    const std::uint32_t a = grid.order()[i], b = tight.order()[i];
    EXPECT_EQ(b, i + 2);
    EXPECT_EQ(was[b], a);
    EXPECT_TRUE(same(a, b));
    EXPECT_EQ(tight.slotAt(grid.coord(a)), b);
    EXPECT_TRUE(std::equal(grid.values(a), grid.values(a) + 512, tight.values(b)));
    EXPECT_EQ(grid.signs(a), tight.signs(b));
    EXPECT_EQ(grid.active(a), tight.active(b));
    for (int n = 0; n < 27; ++n)
      EXPECT_TRUE(same(grid.neighbour(a, n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1),
                       tight.neighbour(b, n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1)));
  }
  EXPECT_EQ(tight.slotAt({20, 0, 0}), BandGrid::kInside);
  EXPECT_FALSE(tight.fitToBand());
}

TEST(BandGrid, ListsBlocksInTheSameOrderWhateverTheHistory) {
  BandGrid direct, detour;
  writeBall(direct, 40.3);
  direct.fitToBand();
  writeBall(detour, 3.3);
  detour.fitToBand();
  for (const std::uint32_t slot : std::vector(detour.order().begin(), detour.order().end())) {
    std::fill_n(detour.values(slot), BandGrid::kNodes, -detour.width());
    detour.updateWords(slot);
  }
  detour.fitToBand();
  EXPECT_EQ(detour.blockCount(), 0u);
  const std::size_t slots = detour.slotCount();
  writeBall(detour, 40.3);
  detour.fitToBand();
  EXPECT_EQ(detour.slotCount(), slots);  // freed ones are used again
  ASSERT_EQ(direct.blockCount(), detour.blockCount());
  for (std::size_t i = 0; i < direct.blockCount(); ++i)
    EXPECT_EQ(direct.coord(direct.order()[i]), detour.coord(detour.order()[i]));
}

}  // namespace
}  // namespace derm::band_grid_test
