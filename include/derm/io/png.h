#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "derm/base/result.h"
#include "derm/image/float_image.h"
#include "derm/image/rgba8_image.h"

namespace derm {

/// Pictures with more pixels than this are refused before memory is taken for them (256 MB).
inline constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 26;

/// Reads a PNG from memory through libpng: grey, colour and palette, 1 to 16 bits (reduced to 8),
/// with or without transparency, interlaced or not. Colour profiles and gamma chunks are ignored:
/// the values are taken as sRGB, as glTF prescribes. Any bytes at all give a picture or an Error
/// that names the byte; a header that promises more pixels than its bytes can hold (deflate packs
/// at most 1032:1) is refused before memory is taken.
Result<Rgba8Image> decodePng(std::span<const std::uint8_t> bytes, std::string_view name);

/// The picture as PNG, without alpha where it is opaque. Lossless: decodePng gives it back. Same
/// input, same bytes (with one version of zlib). Requires a picture that is not empty. Nothing
/// where derm was built without libpng.
std::vector<std::uint8_t> encodePng(const Rgba8Image& image);

/// The same with 16 bits a channel and the channels the file has: grey, grey and alpha, RGB, RGBA;
/// a palette becomes RGB or RGBA. Of 16 bits nothing is lost; fewer are widened so that 1 stays 1
/// (a byte times 257).
Result<UInt16Image> decodePng16(std::span<const std::uint8_t> bytes, std::string_view name);

/// As 16-bit PNG of as many channels. Lossless: decodePng16 gives it back. `curve` is noted in the
/// file (an sRGB chunk, or a gamma of 1), it changes no value.
std::vector<std::uint8_t> encodePng16(const UInt16Image& image, Curve curve);

/// Whole or not at all. An empty picture is a BadArgument error.
Result<void> savePng(const std::filesystem::path& file, const Rgba8Image& image);
Result<void> savePng16(const std::filesystem::path& file, const UInt16Image& image, Curve curve);

}  // namespace derm
