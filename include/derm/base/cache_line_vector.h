#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace derm {

namespace detail {
/// Memory that starts at a cache line. Large pieces start at a large page and ask for such pages:
/// what is read all over the place would with small ones wait for an address at most reads.
void* allocateLines(std::size_t bytes);
void freeLines(void* memory, std::size_t bytes);

/// Allocator on top of these.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}

  T* allocate(std::size_t n) {
    // More than there can be is refused below, as any allocation that is too large.
    constexpr std::size_t kMaxBytes = std::numeric_limits<std::ptrdiff_t>::max();
    return static_cast<T*>(allocateLines(n > kMaxBytes / sizeof(T) ? kMaxBytes : n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t n) { freeLines(memory, n * sizeof(T)); }
  template <class U>
  bool operator==(const CacheLineAllocator<U>&) const {
    return true;
  }
};
}  // namespace detail

/// A vector whose first entry starts at a cache line, so that vector loads, rows of eight numbers
/// or eight words of bits never lie across two.
template <class T>
using CacheLineVector = std::vector<T, detail::CacheLineAllocator<T>>;

}  // namespace derm
