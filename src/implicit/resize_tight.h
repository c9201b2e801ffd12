#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace derm::detail {

/// Resizes a vector that follows the band: left to itself it would double its room whenever the
/// surface grows by a few points.
template <class T, class Allocator>
void resizeTight(std::vector<T, Allocator>& v, std::size_t n) {
  if (n > v.capacity()) v.reserve(n + n / 32);
  v.resize(n);
}

/// Entries kept by slot, `each` of them: in the order of new slots, whose old numbers are `was`.
/// Slots that had none yet have zeroes.
template <class T>
void renumberBlocks(std::vector<T>& v, std::size_t each, std::span<const std::uint32_t> was) {
  if (v.empty()) return;
  std::vector<T> fresh(was.size() * each);
  for (std::size_t slot = 0; slot < was.size(); ++slot)
    if ((was[slot] + 1) * each <= v.size())
      std::copy_n(v.begin() + static_cast<std::ptrdiff_t>(was[slot] * each), each,
                  fresh.begin() + static_cast<std::ptrdiff_t>(slot * each));
  v.swap(fresh);
}

}  // namespace derm::detail
