#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "derm/base/result.h"
#include "derm/image/float_image.h"

namespace derm {

/// How a camera was held, from a JPEG's Exif data: 1 upright, to 8 as Exif numbers them. 1 where
/// the bytes are no JPEG or do not say it. Any bytes at all are safe.
int exifOrientation(std::span<const std::uint8_t> bytes);

/// The picture as it is to be looked at. Requires 1 to 8.
FloatImage upright(const FloatImage& image, int orientation);

/// A photograph as linear floats, upright: PNG or JPEG, grey or colours, 8 or 16 bits, with or
/// without alpha (loadFloatImage() leaves textures as their files have them).
Result<FloatImage> loadPhoto(const std::filesystem::path& file);

}  // namespace derm
