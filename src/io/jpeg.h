#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "derm/base/result.h"
#include "derm/image/rgba8_image.h"

namespace derm::detail {

/// Reads a JPEG from memory through libjpeg: grey, YCbCr, RGB, CMYK and YCCK (Adobe's inverted
/// sense), baseline or progressive. The Exif orientation is not applied: textures are addressed as
/// stored. Truncated or broken bytes, more than kMaxPixels (png.h), and more than 500 scans (a
/// known way to burn time) are Errors.
Result<Rgba8Image> decodeJpeg(std::span<const std::uint8_t> bytes, std::string_view name);

}  // namespace derm::detail
