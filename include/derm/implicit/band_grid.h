#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/base/cache_line_vector.h"
#include "derm/implicit/block_map.h"

namespace derm {

/// A number per node of an unbounded lattice, kept only near a surface: the narrow band of a level
/// set f, in voxels, f > 0 inside, clamped to +-width. Space is cut into blocks of 8 x 8 x 8 nodes;
/// a block exists where it, or a neighbour at its border, holds a node with |f| < width. Everywhere
/// else only the sign is known: outside, or inside.
///
///   node (8 X + x, 8 Y + y, 8 Z + z) of block (X, Y, Z) is entry x + 8 y + 64 z of its values;
///   bit words: one word per slice z, bit x + 8 y.
///
/// Blocks live in numbered slots that stay where they are until compact(); freed ones are used
/// again. order() lists
/// the live ones by z, y, x, so nothing that walks it depends on the band's history. Slots 0 and 1
/// are not part of the band: they stand for "all outside" and "all inside", so every block has 26
/// neighbours to read from. About 2.3 KB per block.
///
/// Thread-safe for reading; writers may write different blocks at once, but only one thread may
/// change which blocks exist.
class BandGrid {
 public:
  static constexpr int kSide = 8;
  static constexpr std::size_t kNodes = 512;
  static constexpr std::uint32_t kOutside = 0;
  static constexpr std::uint32_t kInside = 1;
  static constexpr std::uint32_t kFirstLive = 2;
  using Words = std::array<std::uint64_t, kSide>;

  /// Requires width in [2, 6]; 2.5 is what the scheme was settled with.
  explicit BandGrid(float width = 2.5f);

  float width() const { return width_; }
  /// Nodes with |f| below this are part of the band.
  float activeLimit() const { return width_ * (1.0f - 1e-4f); }

  std::span<const std::uint32_t> order() const { return order_; }
  std::size_t blockCount() const { return order_.size(); }
  /// Slots are below this.
  std::size_t slotCount() const { return coords_.size(); }
  const BlockCoord& coord(std::uint32_t slot) const { return coords_[slot]; }
  bool isLive(std::uint32_t slot) const { return slot >= kFirstLive; }

  const float* values(std::uint32_t slot) const { return values_.data() + slot * kNodes; }
  float* values(std::uint32_t slot) { return values_.data() + slot * kNodes; }

  /// Bits of nodes with f > 0, and of nodes of the band.
  const Words& signs(std::uint32_t slot) const { return signs_[slot]; }
  const Words& active(std::uint32_t slot) const { return active_[slot]; }
  Words& signs(std::uint32_t slot) { return signs_[slot]; }
  Words& active(std::uint32_t slot) { return active_[slot]; }

  /// Slot of the block at an offset of -1, 0 or 1 along each axis.
  std::uint32_t neighbour(std::uint32_t slot, int dx, int dy, int dz) const {
    return neighbours_[slot][static_cast<std::size_t>(13 + dx + 3 * dy + 9 * dz)];
  }
  /// The slot of a block: live, kOutside or kInside.
  std::uint32_t slotAt(const BlockCoord& at) const { return map_.find(at); }

  /// Makes blocks exist; what exists already stays. Values are +-width by the region's sign.
  void createBlocks(std::span<const BlockCoord> wanted);
  /// Declares missing blocks as inside.
  void markInside(std::span<const BlockCoord> coords);
  /// Creates blocks that the band grew into and removes those it left. Requires signs() and
  /// active() of all blocks to be up to date. Returns true where the set of blocks changed.
  bool fitToBand();
  /// signs() and active() of one block from its values, for those who wrote values().
  void updateWords(std::uint32_t slot);
  /// Whether blocks lie in memory in another order than that of order(), as after some way: reading
  /// a band larger than the cache then takes up to a third longer. O(blocks), next to nothing.
  bool scattered() const;
  /// Renumbers slots by order() and gives back those without a block. Changes no value. Returns the
  /// old slot of each new one, for those who keep something by slot. O(blocks), as much as a
  /// fraction of a step; needs twice the memory meanwhile.
  std::vector<std::uint32_t> compact();
  void clear();

  /// Nodes of the band.
  std::size_t activeCount() const;
  /// [bytes] taken by one block, all arrays of the grid counted.
  static std::size_t bytesPerBlock();
  /// [bytes] held now.
  std::size_t memoryBytes() const;

 private:
  void reserveSlots(std::size_t more);
  std::uint32_t takeSlot(const BlockCoord& at, std::uint32_t region);
  void connect(std::uint32_t slot);
  bool removeEmptyBlocks();
  void collectWanted(std::vector<BlockCoord>& wanted) const;

  float width_;
  BlockMap map_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<BlockCoord> coords_;
  CacheLineVector<float> values_;
  CacheLineVector<Words> signs_;
  CacheLineVector<Words> active_;
  CacheLineVector<std::array<std::uint32_t, 27>> neighbours_;
  std::vector<std::uint32_t> wants_;  ///< per slot: bit per neighbour its band touches
};

}  // namespace derm
