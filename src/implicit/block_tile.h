#pragma once

#include <array>
#include <cstdint>

#include "derm/implicit/band_grid.h"

namespace derm::detail {

/// A block's values with one node of its neighbours around: coordinates -1 to 8. Only the rows
/// (along x) that are asked for are filled.
class BlockTile {
 public:
  static constexpr int kStride = 16;
  static constexpr int kRowStep = kStride;         ///< from y to y + 1
  static constexpr int kSliceStep = 10 * kStride;  ///< from z to z + 1

  /// Rows to fill: entry z + 1 has bit y + 1, z and y in -1..8.
  using RowMask = std::array<std::uint32_t, 10>;

  void fill(const BandGrid& grid, std::uint32_t slot, const RowMask& rows);

  const float* at(int x, int y, int z) const {
    return values_.data() + ((z + 1) * 10 + y + 1) * kStride + 4 + x;
  }

 private:
  std::array<float, 100 * kStride> values_;
};

/// Rows that hold a set bit of these words and, around each, the eight rows beside it.
BlockTile::RowMask dilatedRows(const BandGrid::Words& nodes);

/// Rows with a set bit: bit y + 8 z.
std::uint64_t rowsOf(const BandGrid::Words& nodes);

}  // namespace derm::detail
