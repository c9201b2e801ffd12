#include "implicit/block_tile.h"

#include <bit>
#include <cstring>

namespace derm::detail {
namespace {

/// Where a row of a tile comes from: which of the nine blocks around along y and z, and its index
/// there.
struct RowSource {
  std::uint16_t block, start;
};

constexpr int side(int i) { return i < 0 ? -1 : i > 7 ? 1 : 0; }

constexpr auto kRowSources = [] {
  std::array<RowSource, BlockTile::kRows * BlockTile::kRows> sources{};
  for (int z = -1; z < BlockTile::kRows - 1; ++z)
    for (int y = -1; y < BlockTile::kRows - 1; ++y)
      sources[static_cast<std::size_t>((z + 1) * BlockTile::kRows + y + 1)] = {
          static_cast<std::uint16_t>(3 * (side(z) + 1) + side(y) + 1),
          static_cast<std::uint16_t>((z & 7) * 64 + (y & 7) * 8)};
  return sources;
}();

}  // namespace

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
  const std::array<std::uint64_t, 3> words = packed(rows);
  for (int w = 0; w < 3; ++w)
    for (std::uint64_t left = words[static_cast<std::size_t>(w)]; left != 0; left &= left - 1) {
      const int number = w * kRowsPerWord + std::countr_zero(left);
      const auto [block, start] = kRowSources[static_cast<std::size_t>(number)];
      float* out = row(number);
      std::memcpy(out, around[1][block] + start, 8 * sizeof(float));
      out[-1] = around[0][block][start + 7];
      std::memcpy(out + 8, around[2][block] + start, 2 * sizeof(float));
    }
}

}  // namespace derm::detail
