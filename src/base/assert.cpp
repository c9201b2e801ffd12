#include "derm/base/assert.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace derm {
namespace {

void printFailure(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: requirement failed, by derm or by its caller: %s\n", file, line,
               expression);
}

std::atomic<RequirementHandler> current_handler{&printFailure};

}  // namespace

RequirementHandler setRequirementHandler(RequirementHandler handler) noexcept {
  return current_handler.exchange(handler != nullptr ? handler : &printFailure);
}

RequirementHandler requirementHandler() noexcept { return current_handler.load(); }

void detail::requirementFailed(const char* expression, const char* file, int line) {
  requirementHandler()(expression, file, line);
  std::abort();
}

}  // namespace derm
