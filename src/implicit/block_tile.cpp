#include "implicit/block_tile.h"

#include <bit>
#include <cstring>

#include "implicit/edge_index.h"

namespace derm::detail {
namespace {

int side(int i) { return i < 0 ? -1 : i > 7 ? 1 : 0; }

}  // namespace

std::uint32_t rowBits(std::uint64_t word) {
  word |= word >> 4;
  word |= word >> 2;
  word |= word >> 1;
  return static_cast<std::uint32_t>(((word & kColumn0) * 0x0102040810204080ull) >> 56);
}

std::uint64_t rowsOf(const BandGrid::Words& nodes) {
  std::uint64_t rows = 0;
  for (std::size_t z = 0; z < 8; ++z) rows |= std::uint64_t{rowBits(nodes[z])} << (8 * z);
  return rows;
}

BlockTile::RowMask tileRows(const BandGrid::Words& nodes) {
  BlockTile::RowMask mask{};
  for (std::size_t z = 0; z < 8; ++z) mask[z + 1] = rowBits(nodes[z]) << 1;
  return mask;
}

BlockTile::RowMask dilated(const BlockTile::RowMask& rows) {
  BlockTile::RowMask wide{};
  for (std::size_t z = 1; z + 1 < rows.size(); ++z) {
    const std::uint32_t row = rows[z] | rows[z] << 1 | rows[z] >> 1;
    for (std::size_t dz = 0; dz < 3; ++dz) wide[z - 1 + dz] |= row;
  }
  return wide;
}

void BlockTile::fill(const BandGrid& grid, std::uint32_t slot, const RowMask& rows) {
  const float* around[3][9];  // by dx, then dy and dz
  for (int n = 0; n < 9; ++n)
    for (int dx = -1; dx <= 1; ++dx)
      around[dx + 1][n] = grid.values(grid.neighbour(slot, dx, n % 3 - 1, n / 3 - 1));
  for (int z = -1; z < kRows - 1; ++z)
    for (std::uint32_t left = rows[static_cast<std::size_t>(z + 1)]; left != 0; left &= left - 1) {
      const int y = std::countr_zero(left) - 1;
      const int n = 3 * (side(z) + 1) + side(y) + 1;
      const std::size_t row = static_cast<std::size_t>((z & 7) * 64 + (y & 7) * 8);
      float* out = at(0, y, z);
      std::memcpy(out, around[1][n] + row, 8 * sizeof(float));
      out[-1] = around[0][n][row + 7];
      std::memcpy(out + 8, around[2][n] + row, 2 * sizeof(float));
    }
}

}  // namespace derm::detail
