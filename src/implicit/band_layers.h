#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/base/parallel.h"
#include "derm/implicit/band_grid.h"

#include "implicit/resize_tight.h"

namespace derm::detail {

/// The live blocks of a band by layers of equal block z, lowest first. A step goes through them as
/// a wave: what it reads and writes stays in cache, and work space is needed for three layers only.
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

/// 512 numbers for each block of three layers that follow one another.
class LayerRing {
 public:
  void fit(const BandLayers& layers) {
    stride_ = layers.largest() * BandGrid::kNodes;
    layers_ = std::clamp<std::size_t>(layers.count(), 1, 3);  // flat bands have fewer
    resizeTight(values_, layers_ * stride_);
  }
  float* of(std::size_t layer, std::size_t place) {
    return values_.data() + layer % layers_ * stride_ + place * BandGrid::kNodes;
  }
  std::size_t memoryBytes() const { return values_.capacity() * sizeof(float); }

 private:
  std::size_t stride_ = 0;
  std::size_t layers_ = 1;
  std::vector<float> values_;
};

/// Asks for a block's values before they are needed. A band larger than the cache is read row by
/// row from scattered blocks, which hardware does not foresee.
inline void fetchSoon(const BandGrid& grid, std::uint32_t slot) {
  constexpr std::size_t kFloatsPerLine = 16;
  const float* values = grid.values(slot);
  for (std::size_t i = 0; i < BandGrid::kNodes; i += kFloatsPerLine) __builtin_prefetch(values + i);
}

/// Layer by layer: ahead(slot, layer, place) for the blocks of a layer, and at the same time
/// behind(slot, layer, place) for those two layers below, whose neighbours have all been through
/// ahead() by then. Blocks of a layer run in parallel.
template <class Ahead, class Behind>
void waveThrough(const BandGrid& grid, const BandLayers& layers, const Ahead& ahead,
                 const Behind& behind) {
  constexpr std::size_t kBlocksPerChunk = 32;
  for (std::size_t layer = 0; layer < layers.count() + 2; ++layer) {
    const std::span<const std::uint32_t> first = layers.blocks(grid, layer);
    const std::span<const std::uint32_t> second =
        layer < 2 ? std::span<const std::uint32_t>() : layers.blocks(grid, layer - 2);
    parallelFor(std::max(first.size(), second.size()), kBlocksPerChunk,
                [&](std::size_t begin, std::size_t end) {
                  for (std::size_t i = begin; i < end; ++i) {
                    if (i < second.size()) behind(second[i], layer - 2, i);
                    if (i >= first.size()) continue;
                    // The layer above is what nobody has touched yet.
                    if (i + 1 < end && i + 1 < first.size())
                      fetchSoon(grid, grid.neighbour(first[i + 1], 0, 0, 1));
                    ahead(first[i], layer, i);
                  }
                });
  }
}

}  // namespace derm::detail
