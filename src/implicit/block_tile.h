#pragma once

#include <array>
#include <cstdint>

#include "derm/implicit/band_grid.h"

namespace derm::detail {

/// A block's values with one node of its neighbours below and two above: coordinates -1 to 9, so
/// that differences can be taken at both ends of all its edges. Only the rows (along x) that are
/// asked for are filled.
class BlockTile {
 public:
  static constexpr int kStride = 16;
  static constexpr int kRows = 11;
  static constexpr int kRowStep = kStride;            ///< from y to y + 1
  static constexpr int kSliceStep = kRows * kStride;  ///< from z to z + 1

  /// Rows to fill: entry z + 1 has bit y + 1, z and y in -1..9.
  using RowMask = std::array<std::uint32_t, kRows>;

  void fill(const BandGrid& grid, std::uint32_t slot, const RowMask& rows);

  const float* at(int x, int y, int z) const {
    return values_.data() + ((z + 1) * kRows + y + 1) * kStride + 4 + x;
  }
  float* at(int x, int y, int z) {
    return values_.data() + ((z + 1) * kRows + y + 1) * kStride + 4 + x;
  }

 private:
  alignas(64) std::array<float, kRows * kRows * kStride> values_;
};

/// Rows that hold a set bit of these words: as a mask of BlockTile.
BlockTile::RowMask tileRows(const BandGrid::Words& nodes);
/// The same rows and the eight rows beside each.
BlockTile::RowMask dilated(const BlockTile::RowMask& rows);

/// Bit y where row y of the word is not empty.
std::uint32_t rowBits(std::uint64_t word);
/// Rows with a set bit: bit y + 8 z.
std::uint64_t rowsOf(const BandGrid::Words& nodes);

}  // namespace derm::detail
