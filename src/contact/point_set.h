#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

/// Private to room contact.
namespace derm::detail {

/// A set of points with a list, cheap to clear.
class PointSet {
 public:
  explicit PointSet(std::size_t count) : stamp_(count, 0) { list_.reserve(count); }
  void clear() {
    list_.clear();
    if (++now_ == 0) {
      std::fill(stamp_.begin(), stamp_.end(), 0u);
      now_ = 1;
    }
  }
  bool has(std::uint32_t p) const { return stamp_[p] == now_; }
  void add(std::uint32_t p) {
    if (has(p)) return;
    stamp_[p] = now_;
    list_.push_back(p);
  }
  std::span<const std::uint32_t> list() const { return list_; }
  bool empty() const { return list_.empty(); }
  void sort() { std::sort(list_.begin(), list_.end()); }

 private:
  std::vector<std::uint32_t> stamp_, list_;
  std::uint32_t now_ = 1;
};

}  // namespace derm::detail
