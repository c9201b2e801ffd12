#pragma once

#include <span>
#include <vector>

#include "derm/implicit/band_grid.h"

#include "implicit/band_kernels.h"
#include "implicit/band_layers.h"
#include "implicit/edge_index.h"

namespace derm::detail {

/// What the edge points of each node of a block add up to, and how many they are. Only rows with
/// near nodes are set.
struct NodeSums {
  static constexpr std::size_t kBeyond = BandGrid::kNodes;  ///< takes what ends in other blocks
  alignas(64) float sum[BandGrid::kNodes + 16];
  alignas(64) float count[BandGrid::kNodes + 16];
};

/// The passes of a step over all blocks, each parallel over blocks and the same for any number of
/// threads. prepare() looks at where the surface is; then curvature, if wanted; then advance()
/// moves it. Holds work space only: 0.4 KB per block and 2 KB for each block of two layers.
class BandStepper {
 public:
  /// Edge points, near nodes and the rows a step has to touch, for the grid as it is.
  void prepare(const BandGrid& grid);
  const EdgeIndex& index() const { return index_; }
  const BandGrid::Words& near(std::uint32_t slot) const { return near_[slot]; }

  /// Rows of each slot that a step reads and writes: bit y + 8 z.
  std::span<const std::uint64_t> rows() const { return rows_; }

  /// Curvature at a block's near nodes; other entries of `out` (512) may change. Requires
  /// prepare().
  void curvatureOf(const BandGrid& grid, std::uint32_t slot, float* out) const;
  /// At all near nodes, 512 per slot.
  void findCurvature(const BandGrid& grid, std::vector<float>& out) const;

  /// Moves the surface outwards by moves[e] voxels at edge point e (each near node by the mean of
  /// its edge points); none = it stays, and only distances are rebuilt. Then fits the band.
  /// Requires prepare() of this grid.
  void advance(BandGrid& grid, std::span<const float> moves, const Renormalisation& renormalise);
  /// The same with the move of each near node given: 512 per slot.
  void advanceNodes(BandGrid& grid, std::span<const float> node_moves,
                    const Renormalisation& renormalise);
  /// Sums over the edge points of each node of a block. Requires prepare().
  void gather(const BandGrid& grid, std::uint32_t slot, std::span<const float> of_edge_points,
              NodeSums& out) const;

  std::size_t memoryBytes() const;

 private:
  void moveBlock(BandGrid& grid, std::uint32_t slot, const float* sums, const float* counts,
                 const Renormalisation& renormalise, float* out) const;
  /// Moves all blocks by move(slot, out) in a wave: old values are overwritten when no block needs
  /// them any more.
  template <class Move>
  void moveAll(BandGrid& grid, const Move& move);

  EdgeIndex index_;
  CacheLineVector<BandGrid::Words> near_;
  std::vector<std::uint64_t> rows_;  ///< rows a step computes
  BandLayers layers_;
  LayerRing ring_;
};

/// Makes a band of distances out of any values whose signs are right: slope about 1 at the surface,
/// which hardly moves.
void renormalise(BandGrid& grid, int sweeps);

}  // namespace derm::detail
