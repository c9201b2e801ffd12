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
  std::uint32_t indexInLayer(std::uint32_t slot) const { return index_in_layer_[slot]; }
  std::size_t largest() const { return largest_; }
  std::size_t memoryBytes() const {
    return starts_.capacity() * sizeof(std::size_t) +
           index_in_layer_.capacity() * sizeof(std::uint32_t);
  }

 private:
  std::vector<std::size_t> starts_;
  std::vector<std::uint32_t> index_in_layer_;
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
  float* of(std::size_t layer, std::size_t index) {
    return values_.data() + layer % layers_ * stride_ + index * BandGrid::kNodes;
  }
  std::size_t memoryBytes() const { return values_.capacity() * sizeof(float); }

 private:
  std::size_t stride_ = 0;
  std::size_t layers_ = 1;
  CacheLineVector<float> values_;
};

/// Reads every line of a block's 512 values. Also those that nobody needs, and by plain loads:
/// memory read in order is brought by the hardware three times as fast as single lines asked for.
inline void fetchBlock(const float* values) {
  for (std::size_t i = 0; i < BandGrid::kNodes; i += 16)
    static_cast<void>(*static_cast<const volatile float*>(values + i));
}
/// The same for anything else.
template <class T>
void fetchRecord(const T& record) {
  const volatile char* bytes = reinterpret_cast<const volatile char*>(&record);
  for (std::size_t i = 0; i < sizeof(T); i += 64) static_cast<void>(bytes[i]);
}

/// Brings a run of blocks into cache that will be looked at next: those above them, which nobody
/// has touched yet, and those that are above none.
inline void fetchRun(const BandGrid& grid, std::span<const std::uint32_t> slots) {
  for (const std::uint32_t slot : slots) {
    fetchBlock(grid.values(grid.neighbour(slot, 0, 0, 1)));
    if (!grid.isLive(grid.neighbour(slot, 0, 0, -1))) fetchBlock(grid.values(slot));
  }
}

/// How many of n blocks make a run: enough of them for many threads, and each as long as it may be
/// without leaving the cache.
inline std::size_t runLength(std::size_t n) { return std::clamp<std::size_t>(n / 12, 8, 64); }

/// Asks for rows of 512 values (bit y + 8 z) in the second-level cache or near it; two of them
/// share a cache line.
inline void fetchRows(const float* values, std::uint64_t rows) {
  for (std::uint64_t lines = (rows | rows >> 1) & 0x5555555555555555ull; lines != 0;
       lines &= lines - 1)
    __builtin_prefetch(values + 8 * std::countr_zero(lines));
}

/// Layer by layer, the blocks of each in parallel: ahead(slot, layer, index) reads a block and
/// those it shares a face with; behind(slot, layer, index) follows as soon as all of these have
/// been ahead, and may overwrite it; bring(slot) and soon(slot, layer, index) say some time before
/// either that it will come. A block waits only for the one above it, so what is overwritten has
/// just been read.
template <class Bring, class Ahead, class Soon, class Behind>
void waveThrough(const BandGrid& grid, const BandLayers& layers, const Bring& bring,
                 const Ahead& ahead, const Soon& soon, const Behind& behind) {
  for (std::size_t layer = 0; layer <= layers.count(); ++layer) {
    const std::span<const std::uint32_t> blocks = layers.blocks(grid, layer);
    const std::span<const std::uint32_t> below =
        layer == 0 ? std::span<const std::uint32_t>() : layers.blocks(grid, layer - 1);
    const std::size_t n = std::max(blocks.size(), below.size());
    parallelFor(n, runLength(n), [&](std::size_t begin, std::size_t end) {
      const std::size_t last = std::min(end, blocks.size());
      if (begin < last) fetchRun(grid, blocks.subspan(begin, last - begin));
      for (std::size_t i = begin; i < last; ++i) bring(blocks[i]);
      for (std::size_t i = begin; i < last; ++i) {
        const std::uint32_t done = grid.neighbour(blocks[i], 0, 0, -1);
        if (grid.isLive(done)) soon(done, layer - 1, layers.indexInLayer(done));
        ahead(blocks[i], layer, i);
        if (grid.isLive(done)) behind(done, layer - 1, layers.indexInLayer(done));
      }
      for (std::size_t i = begin; i < std::min(end, below.size()); ++i)
        if (!grid.isLive(grid.neighbour(below[i], 0, 0, 1))) behind(below[i], layer - 1, i);
    });
  }
}

}  // namespace derm::detail
