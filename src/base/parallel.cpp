#include "derm/base/parallel.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

namespace derm {

struct ThreadLimit::Control {
  explicit Control(int threads)
      : limit(tbb::global_control::max_allowed_parallelism,
              static_cast<std::size_t>(std::max(threads, 1))) {}
  tbb::global_control limit;
};

ThreadLimit::ThreadLimit(int threads) : control_(std::make_unique<Control>(threads)) {}
ThreadLimit::~ThreadLimit() = default;

bool hasThreads() { return true; }

int threadCount() {
  return static_cast<int>(
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

namespace detail {

void runChunks(std::size_t n, std::size_t chunk, ChunkBody body, void* context) {
  const std::size_t count = (n + chunk - 1) / chunk;
  const auto runOne = [=](std::size_t i) {
    body(context, i * chunk, std::min(n, (i + 1) * chunk));
  };
  if (threadCount() == 1) {
    for (std::size_t i = 0; i < count; ++i) runOne(i);
    return;
  }
  tbb::parallel_for(std::size_t{0}, count, runOne);
}

}  // namespace detail
}  // namespace derm
