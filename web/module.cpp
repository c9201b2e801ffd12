// What the WebAssembly module has beside derm.h. Without exceptions, memory that runs out can only
// end the module: the page learns why and starts another (js/derm.mjs).
#include <cstdlib>
#include <new>

#include "derm/base/deferred.h"

namespace {

int ran_out = 0;

[[noreturn]] void endWithoutMemory() {
  ran_out = 1;
  std::abort();
}

[[maybe_unused]] const std::new_handler before = std::set_new_handler(endWithoutMemory);

}  // namespace

extern "C" int derm_ran_out_of_memory() { return ran_out; }

extern "C" void derm_rest_is_loaded() { derm::deferredIsLoaded(); }
extern "C" int derm_rest_was_missed() { return derm::deferredWasMissed() ? 1 : 0; }
