#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "derm/base/result.h"
#include "derm/image/float_image.h"
#include "derm/image/rgba8_image.h"

namespace derm {

/// False where derm was built without libpng and libjpeg (DERM_WITH_IMAGES): reading and writing
/// pictures then fails with Unsupported and says so. Characters carry theirs undecoded anyway.
bool hasImageFiles();

/// Decodes a PNG or JPEG, told by its first bytes whatever its name or declared type: textures of a
/// character, photographs. Other formats are an Unsupported error that says which it is, if known.
Result<Rgba8Image> decodeImage(std::span<const std::uint8_t> bytes, std::string_view name);
Result<Rgba8Image> loadImage(const std::filesystem::path& file);

/// The same as linear floats, with all a PNG of 16 bits has. PNGs keep their channels, JPEGs have
/// three. `curve` says what the stored numbers are: Srgb for colours, Linear for normals, heights
/// and masks; files do not say it reliably.
Result<FloatImage> decodeFloatImage(std::span<const std::uint8_t> bytes, std::string_view name,
                                    Curve curve);
Result<FloatImage> loadFloatImage(const std::filesystem::path& file, Curve curve);

}  // namespace derm
