#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace derm::detail {

/// For each of `count` items the first that equals it, by `compare(a, b)`: below, at or above 0 as
/// memcmp() has it, over any bits at all. Sorted, not hashed: no input makes it slow. O(n log n).
template <class Compare>
std::vector<std::uint32_t> firstEqual(std::size_t count, const Compare& compare) {
  std::vector<std::uint32_t> order(count), first(count);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int difference = compare(a, b);
    return difference != 0 ? difference < 0 : a < b;
  });
  for (std::size_t i = 0; i < count; ++i)
    first[order[i]] =
        i > 0 && compare(order[i - 1], order[i]) == 0 ? first[order[i - 1]] : order[i];
  return first;
}

/// From firstEqual()'s answer the numbers of items where equal ones are one, in order of their
/// first use; `kept` gets the items that stay.
inline std::vector<std::uint32_t> joinedNumbers(std::vector<std::uint32_t> first,
                                                std::vector<std::uint32_t>& kept) {
  kept.clear();
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] == i) {
      first[i] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(static_cast<std::uint32_t>(i));
    } else {
      first[i] = first[first[i]];
    }
  }
  return first;
}

}  // namespace derm::detail
