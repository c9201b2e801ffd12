#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace derm {

/// Union-find over 0 … count - 1, each alone at first. The root of a set is its smallest member, so
/// results do not depend on the order in which sets were united. Paths are halved on the way; by
/// rank they would be a little shorter, but roots would be anybody.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), 0u);
  }

  std::size_t size() const { return parents_.size(); }
  /// The smallest member of the set that i is in. Requires i < size().
  std::uint32_t rootOf(std::uint32_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  void unite(std::uint32_t a, std::uint32_t b) {
    a = rootOf(a);
    b = rootOf(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parents_;
};

}  // namespace derm
