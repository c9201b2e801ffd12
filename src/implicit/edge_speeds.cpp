#include "implicit/edge_speeds.h"

#include <algorithm>
#include <cmath>

#include "derm/base/parallel.h"

#include "implicit/resize_tight.h"

namespace derm::detail {
namespace {

constexpr std::size_t kBlocksPerChunk = 16;
constexpr std::size_t kMostEdges = 3 * BandGrid::kNodes;

/// Positions of a block's points in voxels from its first node; room for the fullest block.
struct BlockPoints {
  float x[kMostEdges], y[kMostEdges], z[kMostEdges];
  std::size_t count = 0;

  void add(int bit, int slice, int axis, float t) {
    float at[3] = {static_cast<float>(bit & 7), static_cast<float>(bit >> 3),
                   static_cast<float>(slice)};
    at[axis] += t;
    x[count] = at[0];
    y[count] = at[1];
    z[count] = at[2];
    ++count;
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

/// The upper ends of a block's edges: in the block itself or the next one.
struct UpperEnds {
  const float* own;
  const float* next[3];

  float at(int axis, int slice, int bit) const {
    constexpr int kSteps[3] = {1, 8, 64};
    const int along = axis == 0 ? bit & 7 : axis == 1 ? bit >> 3 : slice;
    const int node = 64 * slice + bit;
    return along < 7 ? own[node + kSteps[axis]] : next[axis][node - 7 * kSteps[axis]];
  }
};

/// Ends of a block's edges; values of blocks that are not there are never asked for.
UpperEnds endsOf(const BandGrid& grid, std::uint32_t slot) {
  return {grid.values(slot),
          {grid.values(grid.neighbour(slot, 1, 0, 0)), grid.values(grid.neighbour(slot, 0, 1, 0)),
           grid.values(grid.neighbour(slot, 0, 0, 1))}};
}

/// Fills the distances of one block's edge points and, where `k` is given, their curvature.
void sampleBlock(const Potential& potential, const EdgeIndex& index, std::uint32_t slot,
                 const Target& target, const FieldScale& scale, const UpperEnds* k,
                 EdgeFields& out) {
  const BlockEdges& edges = index.of(slot);
  const UpperEnds f = endsOf(potential.grid, slot);
  const std::uint32_t first = index.first(slot);
  BlockPoints points;
  for (int axis = 0; axis < 3; ++axis)
    for (int z = 0; z < 8; ++z)
      forEachBit(edges.crossed[axis][z], [&](int bit) {
        const float fi = f.own[64 * z + bit];
        const float t = fi / (fi - f.at(axis, z, bit));
        if (k != nullptr) {
          const float ki = k->own[64 * z + bit];
          out.curvature[first + points.count] = ki + t * (k->at(axis, z, bit) - ki);
        }
        points.add(bit, z, axis, t);
      });
  if (points.count == 0) return;
  const std::span<float> distances(out.distance.data() + first, points.count);
  sampleTarget(potential, slot, target, points, distances);
  for (float& d : distances) d = scaled(d, scale);
}

}  // namespace

void sampleEdges(const Potential& potential, BandStepper& stepper, const Target& target,
                 const FieldScale& scale, bool curvature, EdgeFields& out) {
  const BandGrid& grid = potential.grid;
  const EdgeIndex& index = stepper.index();
  resizeTight(out.distance, index.count());
  resizeTight(out.curvature, curvature ? index.count() : 0);
  if (!curvature) {
    parallelFor(grid.blockCount(), kBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t b = begin; b < end; ++b)
        sampleBlock(potential, index, grid.order()[b], target, scale, nullptr, out);
    });
    return;
  }
  LayerRing& ring = stepper.ring();
  const BandLayers& layers = stepper.layers();
  ring.fit(layers);
  waveThrough(
      grid, layers,
      [&](std::uint32_t slot, std::size_t layer, std::size_t place) {
        stepper.curvatureOf(grid, slot, ring.of(layer, place));
      },
      [&](std::uint32_t slot, std::size_t layer, std::size_t place) {
        const float* own = ring.of(layer, place);
        const auto next = [&](int dx, int dy, int dz) -> const float* {
          const std::uint32_t other = grid.neighbour(slot, dx, dy, dz);
          if (!grid.isLive(other)) return own;
          return ring.of(layer + static_cast<std::size_t>(dz), layers.place(other));
        };
        const UpperEnds k{own, {next(1, 0, 0), next(0, 1, 0), next(0, 0, 1)}};
        sampleBlock(potential, index, slot, target, scale, &k, out);
      });
}

void sampleNearNodes(const Potential& potential, const BandStepper& stepper, const Target& target,
                     const FieldScale& scale, std::vector<float>& out) {
  const BandGrid& grid = potential.grid;
  out.resize(grid.slotCount() * BandGrid::kNodes);
  parallelFor(grid.blockCount(), kBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
    BlockPoints points;
    float values[BandGrid::kNodes];
    for (std::size_t b = begin; b < end; ++b) {
      const std::uint32_t slot = grid.order()[b];
      points.count = 0;
      for (int z = 0; z < 8; ++z)
        forEachBit(stepper.near(slot)[static_cast<std::size_t>(z)],
                   [&](int bit) { points.add(bit, z, 0, 0.0f); });
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
  constexpr std::size_t kMostBlocks = 256;
  const BandGrid& grid = potential.grid;
  const std::size_t stride = std::max<std::size_t>(1, grid.blockCount() / kMostBlocks);
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
