// derm without TBB: everything runs in the caller, with the same chunks and so the same bits.
#include "derm/base/parallel.h"

namespace derm {

struct ThreadLimit::Control {};

ThreadLimit::ThreadLimit(int) {}
ThreadLimit::~ThreadLimit() = default;

bool hasThreads() { return false; }
int threadCount() { return 1; }

void detail::runChunks(std::size_t n, std::size_t chunk, ChunkBody body, void* context) {
  for (std::size_t begin = 0; begin < n; begin += chunk)
    body(context, begin, begin + std::min(n - begin, chunk));
}

}  // namespace derm
