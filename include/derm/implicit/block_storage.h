#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace derm {

namespace detail {
/// Memory that starts at a cache line. Large pieces start at a large page and ask for such pages:
/// a band is read all over the place, and with small pages most reads wait for an address first.
void* allocateLines(std::size_t bytes);
void freeLines(void* memory, std::size_t bytes);

/// Allocator on top of these.
template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}

  T* allocate(std::size_t n) {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocateLines(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t n) { freeLines(memory, n * sizeof(T)); }
  template <class U>
  bool operator==(const LineAllocator<U>&) const {
    return true;
  }
};
}  // namespace detail

/// What is kept per block of a band. Its first entry starts at a cache line, so that a row of eight
/// numbers or eight words of bits never lies across two.
template <class T>
using BlockVector = std::vector<T, detail::LineAllocator<T>>;

}  // namespace derm
