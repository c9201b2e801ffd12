#include "implicit/band_layers.h"

namespace derm::detail {

void BandLayers::build(const BandGrid& grid) {
  starts_.clear();
  resizeTight(index_in_layer_, grid.slotCount());
  largest_ = 0;
  const std::span<const std::uint32_t> order = grid.order();
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || grid.coord(order[i]).z != grid.coord(order[i - 1]).z) starts_.push_back(i);
    const std::size_t index = i - starts_.back();
    index_in_layer_[order[i]] = static_cast<std::uint32_t>(index);
    largest_ = std::max(largest_, index + 1);
  }
  starts_.push_back(order.size());
}

}  // namespace derm::detail
