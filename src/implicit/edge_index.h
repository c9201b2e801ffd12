#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "derm/implicit/band_grid.h"

#include "implicit/block_tile.h"

namespace derm::detail {

inline constexpr std::uint64_t kColumn0 = 0x0101010101010101ull;
inline constexpr std::uint64_t kColumn7 = kColumn0 << 7;

/// How many bits are set. Without the processor's instruction for it, which the smallest machine we
/// run on may lack, the library's version is a call and a table.
inline std::uint32_t bitCount(std::uint64_t word) {
  word -= word >> 1 & 0x5555555555555555ull;
  word = (word & 0x3333333333333333ull) + (word >> 2 & 0x3333333333333333ull);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Full;
  return static_cast<std::uint32_t>(word * 0x0101010101010101ull >> 56);
}

/// The lattice edges of one block that the surface crosses. An edge belongs to the block of its
/// lower end; bit x + 8 y of crossed[axis][z] is the edge from node (x, y, z) to the next one along
/// the axis. Edge points are numbered through: first of the block + those before the word + the set
/// bits below. Four cache lines: bands larger than the cache are read at the memory's pace.
struct alignas(64) BlockEdges {
  std::uint64_t crossed[3][8] = {};
  std::uint16_t before[3][8] = {};
  std::uint32_t first = 0;

  std::uint32_t id(int axis, int z, int bit) const {
    const std::uint64_t below = crossed[axis][z] & ((std::uint64_t{1} << bit) - 1);
    return first + before[axis][z] + bitCount(below);
  }
};
static_assert(sizeof(BlockEdges) == 256);

/// All edge points of a band, by slot. Numbers follow order(), axis, slice and bit: they do not
/// depend on the band's history or on threads.
class EdgeIndex {
 public:
  /// Requires signs() of the grid to be up to date. O(blocks).
  void build(const BandGrid& grid);

  const BlockEdges& of(std::uint32_t slot) const { return edges_[slot]; }
  std::uint32_t count() const { return count_; }
  /// The number of a block's first edge point; those of one block follow one another.
  std::uint32_t first(std::uint32_t slot) const { return edges_[slot].first; }
  /// Bits of nodes whose sign differs from one of their six neighbours'.
  BandGrid::Words nearWords(const BandGrid& grid, std::uint32_t slot) const;
  std::size_t memoryBytes() const { return edges_.capacity() * sizeof(BlockEdges); }

 private:
  CacheLineVector<BlockEdges> edges_;
  std::uint32_t count_ = 0;
};

/// Positions of the set bits of each byte, lowest first, and how many they are.
struct ByteBits {
  std::array<std::array<std::uint16_t, 8>, 256> bits{};
  std::array<std::uint8_t, 256> counts{};

  constexpr ByteBits() {
    for (std::size_t byte = 0; byte < 256; ++byte)
      for (std::uint16_t bit = 0; bit < 8; ++bit)
        if (byte >> bit & 1) bits[byte][counts[byte]++] = bit;
  }
};
inline constexpr ByteBits kByteBits;

/// Writes 64 z + bit for every set bit of the eight words, and up to seven numbers more; returns
/// how many there are. By rows of eight from a table, in one loop over the rows that are not empty:
/// a loop for each word would end at unforeseeable places, which is what a processor is worst at.
inline std::size_t listBits(const std::uint64_t (&words)[8], std::uint16_t* out) {
  std::size_t count = 0;
  for (std::uint64_t rows = rowsOf(words); rows != 0; rows &= rows - 1) {
    const unsigned row = static_cast<unsigned>(std::countr_zero(rows));
    const std::size_t byte = words[row >> 3] >> (8 * (row & 7)) & 0xFF;
    for (std::size_t i = 0; i < 8; ++i)
      out[count + i] = static_cast<std::uint16_t>(8 * row + kByteBits.bits[byte][i]);
    count += kByteBits.counts[byte];
  }
  return count;
}

/// Calls visit(bit) for every set bit, lowest first.
template <class Visit>
void forEachBit(std::uint64_t word, const Visit& visit) {
  for (; word != 0; word &= word - 1) visit(std::countr_zero(word));
}

}  // namespace derm::detail
