#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Private to room volume: sums over regions whose bits do not depend on the thread count.
namespace derm::detail {

/// Longest run, of points or triangles of one region, that is one item of a sum.
inline constexpr std::uint32_t kLongestRun = 2048;
/// Runs in one chunk of a parallelFor over them.
inline std::size_t runChunk(std::size_t runs) {
  constexpr std::size_t kMaxChunks = 128;
  return (runs + kMaxChunks - 1) / kMaxChunks;
}

/// Partial sums: one row per chunk of items; chunks depend on the number of items only.
class RegionSums {
 public:
  static constexpr std::size_t kMaxChunks = 64;

  RegionSums(std::size_t items, std::size_t columns)
      : chunk_(std::max<std::size_t>(1024, (items + kMaxChunks - 1) / kMaxChunks)),
        columns_(columns),
        chunks_((items + chunk_ - 1) / chunk_),
        parts_(chunks_ * columns, 0.0) {}

  std::size_t chunk() const { return chunk_; }
  /// The row that body(begin, ...) of a parallelFor over the items with chunk() may write to.
  std::span<double> row(std::size_t begin) {
    return std::span(parts_).subspan(begin / chunk_ * columns_, columns_);
  }
  void setZero() { std::fill(parts_.begin(), parts_.end(), 0.0); }
  double total(std::size_t column) const {
    double sum = 0;
    for (std::size_t c = 0; c < chunks_; ++c) sum += parts_[c * columns_ + column];
    return sum;
  }

 private:
  std::size_t chunk_ = 1;
  std::size_t columns_ = 0;
  std::size_t chunks_ = 0;
  std::vector<double> parts_;
};

}  // namespace derm::detail
