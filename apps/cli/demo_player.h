#pragma once

#include <string>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"

namespace derm::cli {

/// A player for the demo's page that needs nothing but a browser: scenes of the cast, frame by
/// frame, linear skinning on the left and derm on the right, with a switch for each layer, a time
/// line and a speed. A script and its data, as HTML; draws with WebGL.
Result<std::string> demoPlayerHtml(Diagnostics& notes, const Progress& progress);

}  // namespace derm::cli
