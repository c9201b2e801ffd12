#include "derm/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace derm::detail {

void requirementFailed(const char* expression, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: requirement failed, by derm or by its caller: %s\n", file, line,
               expression);
  std::abort();
}

}  // namespace derm::detail
