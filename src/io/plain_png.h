#pragma once

#include <cstdint>
#include <vector>

#include "derm/image/rgba8_image.h"

namespace derm::detail {

/// A PNG without libpng, for builds that have none: a fixed code, and only repeats of the pixel
/// before and of the row above are found. Maps that are mostly flat get small, photos do not.
std::vector<std::uint8_t> encodePlainPng(const Rgba8Image& image);

}  // namespace derm::detail
