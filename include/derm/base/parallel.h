#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace derm {

/// While alive, derm uses at most this many threads in this process. 1 = run in the caller.
/// Results never depend on it.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  struct Control;
  std::unique_ptr<Control> control_;
};

/// False where derm was built without threads (DERM_WITH_TBB): everything runs in the caller.
bool hasThreads();
/// Threads derm would use now.
int threadCount();

namespace detail {
using ChunkBody = void (*)(void* context, std::size_t begin, std::size_t end);
void runChunks(std::size_t n, std::size_t chunk, ChunkBody body, void* context);
}  // namespace detail

/// Calls body(begin, end) over [0, n) in chunks of `chunk` items, on several threads where that
/// helps. Chunk borders depend on n and `chunk` only, never on the thread count, so a body that
/// writes only its own items gives the same bits everywhere. The body must not throw.
template <class Body>
void parallelFor(std::size_t n, std::size_t chunk, Body&& body) {
  if (n == 0) return;
  chunk = std::max<std::size_t>(chunk, 1);
  if (n <= chunk) {
    body(std::size_t{0}, n);
    return;
  }
  using Plain = std::remove_reference_t<Body>;
  detail::runChunks(
      n, chunk,
      [](void* context, std::size_t begin, std::size_t end) {
        (*static_cast<Plain*>(context))(begin, end);
      },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

/// Sum of partial(begin, end) over [0, n): chunks depend on n only and are added in index order,
/// so the result has the same bits for every thread count. T needs only a default value and +=.
template <class T, class Partial>
T deterministicSum(std::size_t n, const Partial& partial) {
  constexpr std::size_t kMaxChunks = 64;
  constexpr std::size_t kSmallestChunk = 2048;
  const std::size_t chunk = std::max(kSmallestChunk, (n + kMaxChunks - 1) / kMaxChunks);
  std::array<T, kMaxChunks> parts{};
  parallelFor(n, chunk, [&](std::size_t begin, std::size_t end) {
    parts[begin / chunk] = partial(begin, end);
  });
  T sum{};
  for (std::size_t i = 0, count = (n + chunk - 1) / chunk; i < count; ++i) sum += parts[i];
  return sum;
}

}  // namespace derm
