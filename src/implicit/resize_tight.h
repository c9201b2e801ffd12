#pragma once

#include <cstddef>
#include <vector>

namespace derm::detail {

/// Resizes a vector that follows the band: left to itself it would double its room whenever the
/// surface grows by a few points.
template <class T, class Allocator>
void resizeTight(std::vector<T, Allocator>& v, std::size_t n) {
  if (n > v.capacity()) v.reserve(n + n / 32);
  v.resize(n);
}

}  // namespace derm::detail
