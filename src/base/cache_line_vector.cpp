#include "derm/base/cache_line_vector.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace derm::detail {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kLargePage = std::size_t{2} << 20;
/// From here on what is left unused at the end of the last large page is little.
constexpr std::size_t kWorthLargePages = 4 * kLargePage;

}  // namespace

void* allocateLines(std::size_t bytes) {
  const bool large = bytes >= kWorthLargePages;
  void* memory = ::operator new (bytes, std::align_val_t{large ? kLargePage : kLine});
#ifdef __linux__
  // A wish, not a need: where it is refused, pages stay small.
  if (large) static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
#endif
  return memory;
}

void freeLines(void* memory, std::size_t bytes) {
  ::operator delete (memory, std::align_val_t{bytes >= kWorthLargePages ? kLargePage : kLine});
}

}  // namespace derm::detail
