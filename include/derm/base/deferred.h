#pragma once

#include <string_view>

#include "derm/base/result.h"

namespace derm {

/// What few web pages need is a second file of the WebAssembly module, which a page loads when a
/// call asks for it (web/split.mjs). Whoever leads there asks first: Unsupported where it is
/// absent. Programs have everything from the start.
Result<void> needDeferred(std::string_view what);

/// The same function, by a pointer that no optimiser looks through: what is called by it is never
/// merged into its caller, and can lie in the second file.
template <class Function>
Function* deferred(Function* function) {
  Function* volatile opaque = function;
  return opaque;
}

/// The page has loaded it.
void deferredIsLoaded();
/// Whether somebody needed it in vain since this was asked last.
bool deferredWasMissed();

}  // namespace derm
