#pragma once

#include <string>

#include "derm/base/result.h"
#include "derm/render/offscreen_renderer.h"

namespace derm::cli {

/// What `--size WIDTHxHEIGHT` asks for.
Result<PictureSize> pictureSize(const std::string& text);

}  // namespace derm::cli
