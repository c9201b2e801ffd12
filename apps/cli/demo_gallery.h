#pragma once

#include <filesystem>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"

#include "demo_page.h"

namespace derm::cli {

/// One picture for each of the other things derm does, from the example recipes, written into the
/// folder.
Result<std::vector<DemoPage::Panel>> drawGallery(const std::filesystem::path& folder,
                                                 Diagnostics& notes);

}  // namespace derm::cli
