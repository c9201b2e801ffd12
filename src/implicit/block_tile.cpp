#include "implicit/block_tile.h"

#include <algorithm>

#include "implicit/edge_index.h"

namespace derm::detail {
namespace {

/// Bit y where row y of the word is not empty.
std::uint32_t rowBits(std::uint64_t word) {
  word |= word >> 4;
  word |= word >> 2;
  word |= word >> 1;
  return static_cast<std::uint32_t>(((word & kColumn0) * 0x0102040810204080ull) >> 56);
}

int side(int i) { return i < 0 ? -1 : i > 7 ? 1 : 0; }

}  // namespace

std::uint64_t rowsOf(const BandGrid::Words& nodes) {
  std::uint64_t rows = 0;
  for (std::size_t z = 0; z < 8; ++z) rows |= std::uint64_t{rowBits(nodes[z])} << (8 * z);
  return rows;
}

BlockTile::RowMask dilatedRows(const BandGrid::Words& nodes) {
  BlockTile::RowMask mask{};
  for (std::size_t z = 0; z < 8; ++z) {
    const std::uint32_t rows = rowBits(nodes[z]);
    const std::uint32_t wide = rows | rows << 1 | rows << 2;
    for (std::size_t dz = 0; dz < 3; ++dz) mask[z + dz] |= wide;
  }
  return mask;
}

void BlockTile::fill(const BandGrid& grid, std::uint32_t slot, const RowMask& rows) {
  for (int z = -1; z <= 8; ++z)
    for (std::uint32_t left = rows[static_cast<std::size_t>(z + 1)]; left != 0; left &= left - 1) {
      const int y = std::countr_zero(left) - 1;
      const int dy = side(y), dz = side(z);
      const std::size_t row = static_cast<std::size_t>((z & 7) * 64 + (y & 7) * 8);
      float* out = values_.data() + ((z + 1) * 10 + y + 1) * kStride + 4;
      std::copy_n(grid.values(grid.neighbour(slot, 0, dy, dz)) + row, 8, out);
      out[-1] = grid.values(grid.neighbour(slot, -1, dy, dz))[row + 7];
      out[8] = grid.values(grid.neighbour(slot, 1, dy, dz))[row];
    }
}

}  // namespace derm::detail
