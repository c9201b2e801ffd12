#pragma once

#include <vector>

#include "derm/implicit/band_grid.h"

namespace derm::detail {

/// Finds what can be reached from far outside through nodes that are open: a flood over blocks, 64
/// nodes at a time. Blocks that do not exist are open, unless they are marked as inside.
class SignFlood {
 public:
  /// `open`: bits of open nodes, by slot. The box of blocks is the grid's, grown by one.
  SignFlood(const BandGrid& grid, const std::vector<BandGrid::Words>& open);

  /// Bits of nodes the flood has reached, by slot.
  const std::vector<BandGrid::Words>& reached() const { return reached_; }
  /// Missing blocks that it has not reached: they are inside.
  std::vector<BlockCoord> dryBlocks() const;

 private:
  std::size_t cell(const BlockCoord& at) const {
    const auto off = [](std::int32_t v, std::int32_t low) {
      return static_cast<std::size_t>(v - low);
    };
    return (off(at.z, low_.z) * size_[1] + off(at.y, low_.y)) * size_[0] + off(at.x, low_.x);
  }
  bool holds(const BlockCoord& at) const;
  void spreadWithin(std::uint32_t slot);
  void spreadFrom(const BlockCoord& at);
  void enter(const BlockCoord& at, const BandGrid::Words& from);

  const BandGrid& grid_;
  const std::vector<BandGrid::Words>& open_;
  BlockCoord low_, high_;  ///< both included
  std::size_t size_[3] = {};
  std::vector<BandGrid::Words> reached_;
  std::vector<char> wet_;  ///< missing blocks
  std::vector<char> queued_;
  std::vector<BlockCoord> queue_;
};

}  // namespace derm::detail
