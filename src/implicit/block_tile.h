#pragma once

#include <array>
#include <cstdint>
#include <span>

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
  /// Node 0 of row `number` = 11 (z + 1) + y + 1.
  const float* row(int number) const { return values_.data() + number * kStride + 4; }
  float* row(int number) { return values_.data() + number * kStride + 4; }

 private:
  alignas(64) std::array<float, kRows * kRows * kStride> values_;
};

/// A mask's rows in a few words: bit b of word w is row 55 w + b, counted 11 (z + 1) + y + 1.
/// Slices hold a few rows or none, as the surface happens to lie: a loop over each would end at an
/// unforeseeable place eleven times, loops over these only three times.
constexpr int kRowsPerWord = 5 * BlockTile::kRows;
inline std::array<std::uint64_t, 3> packed(const BlockTile::RowMask& rows) {
  std::array<std::uint64_t, 3> words{};
  for (std::size_t z = 0; z < rows.size(); ++z)
    words[z / 5] |= std::uint64_t{rows[z]} << (BlockTile::kRows * (z % 5));
  return words;
}

/// Rows that hold a set bit of these words: as a mask of BlockTile.
BlockTile::RowMask tileRows(const BandGrid::Words& nodes);
/// The same rows and the eight rows beside each.
BlockTile::RowMask dilated(const BlockTile::RowMask& rows);

/// Bit y where row y of the word is not empty.
inline std::uint32_t rowBits(std::uint64_t word) {
  constexpr std::uint64_t kTop = 0x8080808080808080ull;
  const std::uint64_t carried = (word & ~kTop) + ~kTop;  // top bit where a lower one is set
  return static_cast<std::uint32_t>((((carried | word) & kTop) >> 7) * 0x0102040810204080ull >> 56);
}
/// Rows with a set bit: bit y + 8 z.
inline std::uint64_t rowsOf(std::span<const std::uint64_t, 8> words) {
  std::uint64_t rows = 0;
  for (std::size_t z = 0; z < 8; ++z) rows |= std::uint64_t{rowBits(words[z])} << (8 * z);
  return rows;
}

}  // namespace derm::detail
