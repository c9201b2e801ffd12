#include "implicit/edge_speeds.h"

#include <algorithm>
#include <cmath>

#include "derm/base/parallel.h"

#include "implicit/resize_tight.h"

namespace derm::detail {
namespace {

constexpr std::size_t kSpeedBlocksPerChunk = 8;
constexpr std::size_t kMaxEdges = 3 * BandGrid::kNodes;

/// Positions of a block's points in voxels from its first node; room for the fullest block.
struct BlockPoints {
  float x[kMaxEdges], y[kMaxEdges], z[kMaxEdges];
  std::size_t count = 0;

  /// Adds the nodes with these numbers (x + 8 y + 64 z).
  void add(std::span<const std::uint16_t> nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      x[count + i] = static_cast<float>(nodes[i] & 7);
      y[count + i] = static_cast<float>(nodes[i] >> 3 & 7);
      z[count + i] = static_cast<float>(nodes[i] >> 6);
    }
    count += nodes.size();
  }
  void scale(float by) {
    for (std::size_t i = 0; i < count; ++i) {
      x[i] *= by;
      y[i] *= by;
      z[i] *= by;
    }
  }
};

float scaled(float g, const FieldScale& scale) {
  const float d = (g - scale.iso) * scale.per_value;
  // The order of the comparisons turns NaN into "far outside".
  return d > -scale.reach ? std::min(d, scale.reach) : -scale.reach;
}

void sampleTarget(const Potential& potential, std::uint32_t slot, const Target& target,
                  BlockPoints& points, std::span<float> out) {
  points.scale(static_cast<float>(potential.voxel_m));
  const BlockCoord& at = potential.grid.coord(slot);
  const SampleBatch batch{potential.nodePosition(8 * at.x, 8 * at.y, 8 * at.z),
                          {points.x, points.count},
                          {points.y, points.count},
                          {points.z, points.count}};
  target.sample(batch, out);
}

/// Rows of a tile that hold the ends of a block's edges, and those where node 8 is one.
struct EndRows {
  BlockTile::RowMask rows{}, last{};
  bool any = false;

  explicit EndRows(const BlockEdges& edges) {
    std::uint64_t all = 0;
    for (std::size_t z = 0; z < 8; ++z)
      all |= edges.crossed[0][z] | edges.crossed[1][z] | edges.crossed[2][z];
    any = all != 0;
    if (!any) return;
    for (std::size_t z = 0; z < 8; ++z) {
      const std::uint64_t x = edges.crossed[0][z], y = edges.crossed[1][z],
                          up = edges.crossed[2][z];
      rows[z + 1] |= rowBits(x | y | up) << 1 | rowBits(y) << 2;
      rows[z + 2] |= rowBits(up) << 1;
      last[z + 1] = rowBits(x & kColumn7) << 1;
    }
  }
};

/// Values along a block's edges, and where the surface crosses them.
struct Crossings {
  BlockTile values, curvature;
  BlockPoints points;

  /// Adds the points of edges along one axis; `k` has room for their curvature, or is empty.
  void add(const std::uint64_t (&crossed)[8], int axis, std::span<float> k) {
    constexpr int kSteps[3] = {1, BlockTile::kRowStep, BlockTile::kSliceStep};
    const int step = kSteps[axis];
    std::uint16_t nodes[BandGrid::kNodes + 8];
    float t[BandGrid::kNodes], low[BandGrid::kNodes];
    const std::size_t n = listBits(crossed, nodes), first = points.count;
    const float* f = values.at(0, 0, 0);
    for (std::size_t i = 0; i < n; ++i) {
      const int at = tileIndex(nodes[i]);
      low[i] = f[at];
      t[i] = f[at + step];
    }
    for (std::size_t i = 0; i < n; ++i) t[i] = low[i] / (low[i] - t[i]);
    points.add({nodes, n});
    float* along = axis == 0 ? points.x : axis == 1 ? points.y : points.z;
    for (std::size_t i = 0; i < n; ++i) along[first + i] += t[i];
    if (k.empty()) return;
    const float* bend = curvature.at(0, 0, 0);
    for (std::size_t i = 0; i < n; ++i) {
      const float* at = bend + tileIndex(nodes[i]);
      k[first + i] = at[0] + t[i] * (at[step] - at[0]);
    }
  }

 private:
  static int tileIndex(std::uint16_t node) {
    return (node & 7) + (node >> 3 & 7) * BlockTile::kRowStep + (node >> 6) * BlockTile::kSliceStep;
  }
};

/// Fills the distances of one block's edge points and, where wanted, their curvature.
void sampleBlock(const Potential& potential, const EdgeIndex& index, std::uint32_t slot,
                 const Target& target, const FieldScale& scale, EdgeFields& out) {
  const BlockEdges& edges = index.of(slot);
  const EndRows ends(edges);
  if (!ends.any) return;
  const bool bends = !out.curvature.empty();
  Crossings crossings;
  crossings.values.fill(potential.grid, slot, bends ? dilated(ends.rows) : ends.rows);
  if (bends) curvatureOfRows(crossings.values, ends.rows, ends.last, crossings.curvature);
  const std::uint32_t first = index.first(slot);
  const std::span<float> k = std::span<float>(out.curvature).subspan(bends ? first : 0);
  for (int axis = 0; axis < 3; ++axis) crossings.add(edges.crossed[axis], axis, k);
  const std::span<float> distances(out.distance.data() + first, crossings.points.count);
  sampleTarget(potential, slot, target, crossings.points, distances);
  for (float& d : distances) d = scaled(d, scale);
}

}  // namespace

void sampleEdges(const Potential& potential, const BandStepper& stepper, const Target& target,
                 const FieldScale& scale, bool curvature, EdgeFields& out) {
  const BandGrid& grid = potential.grid;
  const EdgeIndex& index = stepper.index();
  resizeTight(out.distance, index.count());
  resizeTight(out.curvature, curvature ? index.count() : 0);
  const std::span<const std::uint32_t> order = grid.order();
  parallelFor(order.size(), runLength(order.size()), [&](std::size_t begin, std::size_t end) {
    fetchRun(grid, order.subspan(begin, end - begin));
    for (std::size_t b = begin; b < end; ++b) fetchRecord(index.of(order[b]));
    for (std::size_t b = begin; b < end; ++b) {
      sampleBlock(potential, index, order[b], target, scale, out);
    }
  });
}

void sampleNearNodes(const Potential& potential, const BandStepper& stepper, const Target& target,
                     const FieldScale& scale, std::vector<float>& out) {
  const BandGrid& grid = potential.grid;
  out.resize(grid.slotCount() * BandGrid::kNodes);
  parallelFor(grid.blockCount(), kSpeedBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
    BlockPoints points;
    float values[BandGrid::kNodes];
    for (std::size_t b = begin; b < end; ++b) {
      const std::uint32_t slot = grid.order()[b];
      points.count = 0;
      for (int z = 0; z < 8; ++z)
        forEachBit(stepper.near(slot)[static_cast<std::size_t>(z)], [&](int bit) {
          const std::uint16_t node = static_cast<std::uint16_t>(64 * z + bit);
          points.add({&node, 1});
        });
      if (points.count == 0) continue;
      sampleTarget(potential, slot, target, points, {values, points.count});
      std::size_t i = 0;
      for (int z = 0; z < 8; ++z)
        forEachBit(stepper.near(slot)[static_cast<std::size_t>(z)], [&](int bit) {
          out[slot * BandGrid::kNodes + static_cast<std::size_t>(64 * z + bit)] =
              scaled(values[i++], scale);
        });
    }
  });
}

double measuredSlope(const Potential& potential, const EdgeIndex& index, const Target& target) {
  constexpr std::size_t kMaxBlocks = 256;
  const BandGrid& grid = potential.grid;
  const std::size_t stride = std::max<std::size_t>(1, grid.blockCount() / kMaxBlocks);
  const double h = potential.voxel_m;
  std::vector<double> slopes;
  for (std::size_t b = 0; b < grid.blockCount(); b += stride) {
    const std::uint32_t slot = grid.order()[b];
    const BlockCoord& at = grid.coord(slot);
    int taken = 0;
    for (int z = 0; z < 8; ++z)
      forEachBit(index.of(slot).crossed[0][z] | index.of(slot).crossed[1][z], [&](int bit) {
        if (taken++ % 3 != 0) return;
        const Vec3d p =
            potential.nodePosition(8 * at.x + (bit & 7), 8 * at.y + (bit >> 3), 8 * at.z + z);
        const double slope = sampledGradient(target, p, h / 2).norm();
        if (std::isfinite(slope)) slopes.push_back(slope);
      });
  }
  if (slopes.empty()) return 0;
  const auto at = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() * 9 / 10);
  std::nth_element(slopes.begin(), at, slopes.end());
  return *at;
}

}  // namespace derm::detail
