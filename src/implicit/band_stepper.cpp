#include "implicit/band_stepper.h"

#include <algorithm>
#include <cstring>

#include "derm/base/parallel.h"

#include "implicit/resize_tight.h"

namespace derm::detail {
namespace {

constexpr std::size_t kStepBlocksPerChunk = 16;

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

void add(NodeSums& sums, std::size_t node, float value) {
  sums.sum[node] += value;
  sums.count[node] += 1.0f;
}

/// Adds up the edges along one axis, whose first has this number.
template <int kAxis>
std::uint32_t addOwnEdges(const BlockEdges& edges, std::span<const float> values, std::uint32_t id,
                          NodeSums& out) {
  constexpr unsigned kShift = 3 * kAxis, kStep = 1u << kShift;
  std::uint16_t nodes[BandGrid::kNodes + 8];
  const std::size_t n = listBits(edges.crossed[kAxis], nodes);
  for (std::size_t i = 0; i < n; ++i) {
    const float value = values[id + i];
    const unsigned node = nodes[i];
    add(out, node, value);
    add(out, (node >> kShift & 7) < 7 ? node + kStep : NodeSums::kBeyond, value);
  }
  return id + static_cast<std::uint32_t>(n);
}

/// Edges of the lower neighbours that end in this block.
void addIncomingEdges(const BandGrid& grid, const EdgeIndex& index, std::uint32_t slot,
                      std::span<const float> values, NodeSums& out) {
  const BlockEdges& left = index.of(grid.neighbour(slot, -1, 0, 0));
  const BlockEdges& below = index.of(grid.neighbour(slot, 0, -1, 0));
  const BlockEdges& behind = index.of(grid.neighbour(slot, 0, 0, -1));
  std::uint64_t from_left = 0, from_below = 0;  // nodes (0, y, z): bit y + 8 z; (x, 0, z): x + 8 z
  for (unsigned z = 0; z < 8; ++z) {
    from_left |= std::uint64_t{rowBits(left.crossed[0][z] & kColumn7)} << (8 * z);
    from_below |= below.crossed[1][z] >> 56 << (8 * z);
  }
  forEachBit(from_left, [&](int bit) {
    add(out, std::size_t(8 * bit), values[left.id(0, bit >> 3, 8 * (bit & 7) + 7)]);
  });
  forEachBit(from_below, [&](int bit) {
    const int x = bit & 7, z = bit >> 3;
    add(out, std::size_t(64 * z + x), values[below.id(1, z, 56 + x)]);
  });
  forEachBit(behind.crossed[2][7],
             [&](int bit) { add(out, std::size_t(bit), values[behind.id(2, 7, bit)]); });
}

}  // namespace

void BandStepper::prepare(const BandGrid& grid) {
  index_.build(grid);
  resizeTight(near_, grid.slotCount());
  resizeTight(rows_, grid.slotCount());
  layers_.build(grid);
  const std::span<const std::uint32_t> order = grid.order();
  parallelFor(order.size(), kStepBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      near_[order[i]] = index_.nearWords(grid, order[i]);
      rows_[order[i]] = rowsNearBand(grid, order[i]);
    }
  });
}

void BandStepper::curvatureOf(const BandGrid& grid, std::uint32_t slot, float* out) const {
  if (!any(near_[slot])) return;
  BlockTile tile, curvature;
  const BlockTile::RowMask rows = tileRows(near_[slot]);
  tile.fill(grid, slot, dilated(rows));
  curvatureOfRows(tile, rows, {}, curvature);
  forEachBit(rowsOf(near_[slot]),
             [&](int row) { std::copy_n(curvature.at(0, row & 7, row >> 3), 8, out + 8 * row); });
}

void BandStepper::findCurvature(const BandGrid& grid, std::vector<float>& out) const {
  out.resize(grid.slotCount() * BandGrid::kNodes);
  const std::span<const std::uint32_t> order = grid.order();
  parallelFor(order.size(), kStepBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      curvatureOf(grid, order[i], out.data() + order[i] * BandGrid::kNodes);
  });
}

void BandStepper::gather(const BandGrid& grid, std::uint32_t slot,
                         std::span<const float> of_edge_points, NodeSums& out) const {
  forEachBit(rowsOf(near_[slot]), [&](int row) {
    std::memset(out.sum + 8 * row, 0, 8 * sizeof(float));
    std::memset(out.count + 8 * row, 0, 8 * sizeof(float));
  });
  if (of_edge_points.empty()) return;
  const BlockEdges& edges = index_.of(slot);
  std::uint32_t id = index_.first(slot);
  out.sum[NodeSums::kBeyond] = out.count[NodeSums::kBeyond] = 0;
  id = addOwnEdges<0>(edges, of_edge_points, id, out);
  id = addOwnEdges<1>(edges, of_edge_points, id, out);
  addOwnEdges<2>(edges, of_edge_points, id, out);
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
      [&](std::uint32_t slot) {
        fetchRecord(index_.of(slot));
        fetchRecord(near_[slot]);
        fetchRecord(grid.signs(slot));
        fetchRecord(grid.active(slot));
      },
      [&](std::uint32_t slot, std::size_t layer, std::size_t index) {
        if (rows_[slot] != 0) move(slot, ring_.of(layer, index));
      },
      [&](std::uint32_t slot, std::size_t layer, std::size_t index) {
        fetchRows(ring_.of(layer, index), rows_[slot]);
        fetchRows(grid.values(slot), rows_[slot]);
      },
      [&](std::uint32_t slot, std::size_t layer, std::size_t index) {
        const float* moved = ring_.of(layer, index);
        float* values = grid.values(slot);
        forEachBit(rows_[slot], [&](int row) {
          std::memcpy(values + 8 * row, moved + 8 * row, 8 * sizeof(float));
        });
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
