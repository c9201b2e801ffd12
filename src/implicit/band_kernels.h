#pragma once

#include <cstdint>

#include "derm/implicit/band_grid.h"

#include "implicit/block_tile.h"

namespace derm::detail {

/// Sum of principal curvatures (div n, n = -grad f/|grad f|; 2/r for a ball of radius r) in
/// 1/voxel, clipped to +-2, at nodes 0 to 7 of some rows of a tile; y and z in 0..8. Central
/// differences. `last`: those of them where node 8 is wanted too.
void curvatureOfRows(const BlockTile& tile, const BlockTile::RowMask& rows,
                     const BlockTile::RowMask& last, BlockTile& curvature);

/// How near nodes are pulled to slope 1: share = min(cap, rest + gain |move|).
struct Renormalisation {
  float rest = 0.01f;
  float gain = 2.0f;
  float cap = 0.3f;
};

/// One block's part of a step: what it reads and writes.
struct AdvanceJob {
  const float* own = nullptr;
  const float* sides[6] = {};  ///< values of the blocks at -x, +x, -y, +y, -z, +z
  std::uint64_t rows = 0;      ///< rows to compute, bit y + 8 z
  const BandGrid::Words* near = nullptr;
  const float* moves = nullptr;   ///< [voxel] sum over each near node's edge points, 512
  const float* counts = nullptr;  ///< how many they are, 512
  Renormalisation renormalisation;
  float width = 2.5f;
  float active_limit = 0;
  float* out = nullptr;              ///< 512, rows
  BandGrid::Words* signs = nullptr;  ///< bits of the computed rows are replaced
  BandGrid::Words* active = nullptr;
};

/// Moves near nodes by the mean of their moves (at most half a voxel each) and rebuilds far ones as
/// distances, second order, from their neighbours' old values: step C of the scheme.
void advanceRows(const AdvanceJob& job);

}  // namespace derm::detail
