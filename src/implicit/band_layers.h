#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/base/parallel.h"
#include "derm/implicit/band_grid.h"

#include "implicit/resize_tight.h"

namespace derm::detail {

/// The live blocks of a band by layers of equal block z, lowest first. A step goes through them as
/// a wave: what it reads and writes stays in cache, and work space is needed for two layers only.
class BandLayers {
 public:
  void build(const BandGrid& grid);

  std::size_t count() const { return starts_.empty() ? 0 : starts_.size() - 1; }
  /// None beyond the last layer.
  std::span<const std::uint32_t> blocks(const BandGrid& grid, std::size_t layer) const {
    if (layer >= count()) return {};
    return grid.order().subspan(starts_[layer], starts_[layer + 1] - starts_[layer]);
  }
  /// A block's number within its layer.
  std::uint32_t place(std::uint32_t slot) const { return places_[slot]; }
  std::size_t largest() const { return largest_; }
  std::size_t memoryBytes() const {
    return starts_.capacity() * sizeof(std::size_t) + places_.capacity() * sizeof(std::uint32_t);
  }

 private:
  std::vector<std::size_t> starts_;
  std::vector<std::uint32_t> places_;
  std::size_t largest_ = 0;
};

/// 512 numbers for each block of two layers that follow one another.
class LayerRing {
 public:
  void fit(const BandLayers& layers) {
    stride_ = layers.largest() * BandGrid::kNodes;
    layers_ = std::clamp<std::size_t>(layers.count(), 1, 2);  // flat bands have fewer
    resizeTight(values_, layers_ * stride_);
  }
  float* of(std::size_t layer, std::size_t place) {
    return values_.data() + layer % layers_ * stride_ + place * BandGrid::kNodes;
  }
  std::size_t memoryBytes() const { return values_.capacity() * sizeof(float); }

 private:
  std::size_t stride_ = 0;
  std::size_t layers_ = 1;
  CacheLineVector<float> values_;
};

/// Asks for rows of a block's 512 values (bit y + 8 z) before they are needed; two of them share a
/// cache line. A band larger than the cache is read row by row from scattered blocks, which
/// hardware does not foresee.
inline void fetchRows(const float* values, std::uint64_t rows) {
  for (std::uint64_t lines = (rows | rows >> 1) & 0x5555555555555555ull; lines != 0;
       lines &= lines - 1)
    __builtin_prefetch(values + 8 * std::countr_zero(lines));
}

/// Those of a block that will be looked at so many places further on in order(), and of the block
/// above it, which nobody has touched yet. `rows` per slot.
constexpr std::size_t kFetchAhead = 2;
inline void fetchSoon(const BandGrid& grid, std::uint32_t slot,
                      std::span<const std::uint64_t> rows) {
  const std::uint32_t above = grid.neighbour(slot, 0, 0, 1);
  fetchRows(grid.values(above), rows[above]);
  fetchRows(grid.values(slot), rows[slot]);
}

/// Layer by layer, the blocks of each in parallel: ahead(slot, layer, place) reads a block and
/// those it shares a face with; behind(slot, layer, place) follows as soon as all of these have
/// been ahead, and may overwrite it. A block waits only for the one above it, so what is
/// overwritten has just been read. `rows` per slot: what ahead() reads.
template <class Ahead, class Behind>
void waveThrough(const BandGrid& grid, const BandLayers& layers,
                 std::span<const std::uint64_t> rows, const Ahead& ahead, const Behind& behind) {
  constexpr std::size_t kBlocksPerChunk = 8;
  for (std::size_t layer = 0; layer <= layers.count(); ++layer) {
    const std::span<const std::uint32_t> blocks = layers.blocks(grid, layer);
    const std::span<const std::uint32_t> below =
        layer == 0 ? std::span<const std::uint32_t>() : layers.blocks(grid, layer - 1);
    parallelFor(std::max(blocks.size(), below.size()), kBlocksPerChunk,
                [&](std::size_t begin, std::size_t end) {
                  for (std::size_t i = begin; i < std::min(end, blocks.size()); ++i) {
                    if (i + kFetchAhead < blocks.size())
                      fetchSoon(grid, blocks[i + kFetchAhead], rows);
                    ahead(blocks[i], layer, i);
                    const std::uint32_t done = grid.neighbour(blocks[i], 0, 0, -1);
                    if (grid.isLive(done)) behind(done, layer - 1, layers.place(done));
                  }
                  for (std::size_t i = begin; i < std::min(end, below.size()); ++i)
                    if (!grid.isLive(grid.neighbour(below[i], 0, 0, 1)))
                      behind(below[i], layer - 1, i);
                });
  }
}

}  // namespace derm::detail
