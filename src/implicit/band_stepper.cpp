#include "implicit/band_stepper.h"

#include <algorithm>

#include "derm/base/parallel.h"

#include "implicit/resize_tight.h"

namespace derm::detail {
namespace {

constexpr std::size_t kBlocksPerChunk = 16;

bool any(const BandGrid::Words& words) {
  std::uint64_t all = 0;
  for (const std::uint64_t w : words) all |= w;
  return all != 0;
}

/// Rows within one row (or, along x, one node) of the band: bit y + 8 z.
std::uint64_t rowsNearBand(const BandGrid& grid, std::uint32_t slot) {
  const auto active = [&](int dx, int dy, int dz) -> const BandGrid::Words& {
    return grid.active(grid.neighbour(slot, dx, dy, dz));
  };
  const std::uint64_t own = rowsOf(active(0, 0, 0));
  BandGrid::Words beside{};
  for (std::size_t z = 0; z < 8; ++z)
    beside[z] = (active(-1, 0, 0)[z] & kColumn7) | (active(1, 0, 0)[z] & kColumn0);
  constexpr std::uint64_t kRow7 = kColumn7;  // rows y = 7 of each slice, in a row mask
  constexpr std::uint64_t kRow0 = kColumn0;
  std::uint64_t rows = own | rowsOf(beside);
  rows |= (own & ~kRow7) << 1 | (own & ~kRow0) >> 1 | own << 8 | own >> 8;
  BandGrid::Words edge{};
  for (std::size_t z = 0; z < 8; ++z)
    edge[z] = active(0, -1, 0)[z] >> 56 | active(0, 1, 0)[z] << 56;
  rows |= rowsOf(edge);
  edge = BandGrid::Words{};
  edge[0] = active(0, 0, -1)[7];
  edge[7] = active(0, 0, 1)[0];
  return rows | rowsOf(edge);
}

void add(NodeSums& sums, int node, float value) {
  sums.sum[node] += value;
  sums.count[node] += 1.0f;
}

void addOwnEdges(const BlockEdges& edges, std::span<const float> values, NodeSums& out) {
  std::uint32_t id = edges.base[0][0];
  constexpr int kSteps[3] = {1, 8, 64};
  for (int axis = 0; axis < 3; ++axis)
    for (int z = 0; z < 8; ++z)
      forEachBit(edges.crossed[axis][z], [&](int bit) {
        const float value = values[id++];
        const int node = 64 * z + bit;
        add(out, node, value);
        const int along = axis == 0 ? bit & 7 : axis == 1 ? bit >> 3 : z;
        if (along < 7) add(out, node + kSteps[axis], value);
      });
}

/// Edges of the lower neighbours that end in this block.
void addIncomingEdges(const BandGrid& grid, const EdgeIndex& index, std::uint32_t slot,
                      std::span<const float> values, NodeSums& out) {
  const BlockEdges& left = index.of(grid.neighbour(slot, -1, 0, 0));
  const BlockEdges& below = index.of(grid.neighbour(slot, 0, -1, 0));
  const BlockEdges& behind = index.of(grid.neighbour(slot, 0, 0, -1));
  for (int z = 0; z < 8; ++z) {
    forEachBit(left.crossed[0][z] & kColumn7,
               [&](int bit) { add(out, 64 * z + bit - 7, values[left.id(0, z, bit)]); });
    forEachBit(below.crossed[1][z] >> 56,
               [&](int x) { add(out, 64 * z + x, values[below.id(1, z, 56 + x)]); });
  }
  forEachBit(behind.crossed[2][7], [&](int bit) { add(out, bit, values[behind.id(2, 7, bit)]); });
}

}  // namespace

void BandStepper::prepare(const BandGrid& grid) {
  index_.build(grid);
  resizeTight(near_, grid.slotCount());
  resizeTight(rows_, grid.slotCount());
  layers_.build(grid);
  const std::span<const std::uint32_t> order = grid.order();
  parallelFor(order.size(), kBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      near_[order[i]] = index_.nearWords(grid, order[i]);
      rows_[order[i]] = rowsNearBand(grid, order[i]);
    }
  });
}

void BandStepper::curvatureOf(const BandGrid& grid, std::uint32_t slot, float* out) const {
  if (!any(near_[slot])) return;
  BlockTile tile;
  tile.fill(grid, slot, dilatedRows(near_[slot]));
  curvatureOfRows(tile, rowsOf(near_[slot]), out);
}

void BandStepper::findCurvature(const BandGrid& grid, std::vector<float>& out) const {
  out.resize(grid.slotCount() * BandGrid::kNodes);
  const std::span<const std::uint32_t> order = grid.order();
  parallelFor(order.size(), kBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      curvatureOf(grid, order[i], out.data() + order[i] * BandGrid::kNodes);
  });
}

void BandStepper::gather(const BandGrid& grid, std::uint32_t slot,
                         std::span<const float> of_edge_points, NodeSums& out) const {
  std::fill_n(out.sum, BandGrid::kNodes, 0.0f);
  std::fill_n(out.count, BandGrid::kNodes, 0.0f);
  if (of_edge_points.empty()) return;
  addOwnEdges(index_.of(slot), of_edge_points, out);
  addIncomingEdges(grid, index_, slot, of_edge_points, out);
}

void BandStepper::moveBlock(BandGrid& grid, std::uint32_t slot, const float* sums,
                            const float* counts, const Renormalisation& renormalise,
                            float* out) const {
  AdvanceJob job;
  job.own = grid.values(slot);
  for (int side = 0; side < 6; ++side) {
    const int d = side % 2 == 0 ? -1 : 1, axis = side / 2;
    job.sides[side] =
        grid.values(grid.neighbour(slot, axis == 0 ? d : 0, axis == 1 ? d : 0, axis == 2 ? d : 0));
  }
  job.rows = rows_[slot];
  job.near = &near_[slot];
  job.moves = sums;
  job.counts = counts;
  job.renormalisation = renormalise;
  job.width = grid.width();
  job.active_limit = grid.activeLimit();
  job.out = out;
  job.signs = &grid.signs(slot);
  job.active = &grid.active(slot);
  advanceRows(job);
}

template <class Move>
void BandStepper::moveAll(BandGrid& grid, const Move& move) {
  ring_.fit(layers_);
  waveThrough(
      grid, layers_,
      [&](std::uint32_t slot, std::size_t layer, std::size_t place) {
        if (rows_[slot] != 0) move(slot, ring_.of(layer, place));
      },
      [&](std::uint32_t slot, std::size_t layer, std::size_t place) {
        const float* moved = ring_.of(layer, place);
        float* values = grid.values(slot);
        forEachBit(rows_[slot],
                   [&](int row) { std::copy_n(moved + 8 * row, 8, values + 8 * row); });
      });
  grid.fitToBand();
}

void BandStepper::advance(BandGrid& grid, std::span<const float> moves,
                          const Renormalisation& renormalise) {
  moveAll(grid, [&](std::uint32_t slot, float* out) {
    NodeSums sums;
    // Only near nodes read them.
    if (any(near_[slot])) gather(grid, slot, moves, sums);
    moveBlock(grid, slot, sums.sum, sums.count, renormalise, out);
  });
}

void BandStepper::advanceNodes(BandGrid& grid, std::span<const float> node_moves,
                               const Renormalisation& renormalise) {
  static const std::vector<float> kOnes(BandGrid::kNodes, 1.0f);
  moveAll(grid, [&](std::uint32_t slot, float* out) {
    moveBlock(grid, slot, node_moves.data() + slot * BandGrid::kNodes, kOnes.data(), renormalise,
              out);
  });
}

std::size_t BandStepper::memoryBytes() const {
  return index_.memoryBytes() + near_.capacity() * sizeof(BandGrid::Words) +
         rows_.capacity() * sizeof(std::uint64_t) + layers_.memoryBytes() + ring_.memoryBytes();
}

void renormalise(BandGrid& grid, int sweeps) {
  BandStepper stepper;
  for (int i = 0; i < sweeps; ++i) {
    stepper.prepare(grid);
    stepper.advance(grid, {}, {.rest = 0.3f});
  }
}

}  // namespace derm::detail
