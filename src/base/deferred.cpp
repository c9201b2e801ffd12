#include "derm/base/deferred.h"

#include <string>
#include <utility>

namespace derm {
namespace {

#if defined(__EMSCRIPTEN__)
bool is_loaded = false;
#else
bool is_loaded = true;
#endif
bool was_missed = false;

}  // namespace

Result<void> needDeferred(std::string_view what) {
  if (is_loaded) return {};
  was_missed = true;
  return Error{ErrorCode::Unsupported,
               std::string(what) + " is in derm.rest.wasm, which is not loaded (loadRest())",
               {}};
}

void deferredIsLoaded() { is_loaded = true; }

bool deferredWasMissed() { return std::exchange(was_missed, false); }

}  // namespace derm
