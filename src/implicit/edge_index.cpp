#include "implicit/edge_index.h"

#include "derm/base/parallel.h"

#include "implicit/resize_tight.h"

namespace derm::detail {
namespace {

constexpr std::size_t kIndexBlocksPerChunk = 32;

void findCrossed(const BandGrid& grid, std::uint32_t slot, BlockEdges& out) {
  const BandGrid::Words& own = grid.signs(slot);
  const BandGrid::Words& right = grid.signs(grid.neighbour(slot, 1, 0, 0));
  const BandGrid::Words& above = grid.signs(grid.neighbour(slot, 0, 1, 0));
  const BandGrid::Words& front = grid.signs(grid.neighbour(slot, 0, 0, 1));
  for (std::size_t z = 0; z < 8; ++z) {
    const std::uint64_t s = own[z];
    out.crossed[0][z] = s ^ ((s >> 1 & ~kColumn7) | (right[z] & kColumn0) << 7);
    out.crossed[1][z] = s ^ (s >> 8 | above[z] << 56);
    out.crossed[2][z] = s ^ (z < 7 ? own[z + 1] : front[0]);
  }
}

/// Counts a block's edge points word by word; returns how many they are.
std::uint32_t countBefore(BlockEdges& edges) {
  std::uint32_t count = 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::size_t z = 0; z < 8; ++z) {
      edges.before[axis][z] = static_cast<std::uint16_t>(count);
      count += bitCount(edges.crossed[axis][z]);
    }
  return count;
}

}  // namespace

void EdgeIndex::build(const BandGrid& grid) {
  const std::span<const std::uint32_t> order = grid.order();
  resizeTight(edges_, grid.slotCount());
  parallelFor(order.size(), kIndexBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      BlockEdges& edges = edges_[order[i]];
      findCrossed(grid, order[i], edges);
      edges.first = countBefore(edges);
    }
  });
  count_ = 0;
  for (const std::uint32_t slot : order) {
    const std::uint32_t points = edges_[slot].first;
    edges_[slot].first = count_;
    count_ += points;
  }
}

BandGrid::Words EdgeIndex::nearWords(const BandGrid& grid, std::uint32_t slot) const {
  const BlockEdges& own = edges_[slot];
  const BlockEdges& left = edges_[grid.neighbour(slot, -1, 0, 0)];
  const BlockEdges& below = edges_[grid.neighbour(slot, 0, -1, 0)];
  const BlockEdges& behind = edges_[grid.neighbour(slot, 0, 0, -1)];
  BandGrid::Words near{};
  for (std::size_t z = 0; z < 8; ++z) {
    const std::uint64_t x = own.crossed[0][z], y = own.crossed[1][z];
    near[z] = x | (x & ~kColumn7) << 1 | (left.crossed[0][z] & kColumn7) >> 7 |  //
              y | y << 8 | below.crossed[1][z] >> 56 |                           //
              own.crossed[2][z] | (z > 0 ? own.crossed[2][z - 1] : behind.crossed[2][7]);
  }
  return near;
}

}  // namespace derm::detail
