#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace derm {

/// Which block of the lattice: it holds nodes 8 X to 8 X + 7 along x, likewise y and z. Each in
/// [-2^20, 2^20): eight million voxels either way.
struct BlockCoord {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::int32_t z = 0;

  static constexpr std::int32_t kLimit = 1 << 20;
  bool inRange() const {
    return x >= -kLimit && x < kLimit && y >= -kLimit && y < kLimit && z >= -kLimit && z < kLimit;
  }
  /// Orders by z, then y, then x.
  std::uint64_t key() const {
    const auto part = [](std::int32_t v) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(v) + kLimit) & 0x1FFFFF;
    };
    return part(z) << 42 | part(y) << 21 | part(x);
  }
  bool operator==(const BlockCoord&) const = default;
};

/// From block coordinates to 32-bit numbers, 0 for what is not there. Open addressing with linear
/// probing and backward-shift deletion; O(1), 12 bytes per cell, at most two thirds full.
class BlockMap {
 public:
  std::uint32_t find(const BlockCoord& at) const;
  /// Requires value != 0 and at.inRange().
  void set(const BlockCoord& at, std::uint32_t value);
  void erase(const BlockCoord& at);
  void clear();
  std::size_t size() const { return used_; }
  std::size_t memoryBytes() const {
    return keys_.capacity() * sizeof(std::uint64_t) + values_.capacity() * sizeof(std::uint32_t);
  }

 private:
  std::size_t home(std::uint64_t key) const;
  void grow();

  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> values_;  ///< 0 = free
  std::size_t used_ = 0;
};

}  // namespace derm
