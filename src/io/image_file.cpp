#include "derm/io/image_file.h"

#include <algorithm>
#include <string>

#include "derm/io/file_bytes.h"
#include "derm/io/png.h"

#include "io/jpeg.h"

namespace derm {
namespace {

bool startsWith(std::span<const std::uint8_t> bytes, std::string_view magic, std::size_t at = 0) {
  return bytes.size() >= at + magic.size() &&
         std::equal(magic.begin(), magic.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char c, std::uint8_t b) { return static_cast<std::uint8_t>(c) == b; });
}

/// Formats people do put into characters, to be named in the error.
std::string_view otherFormat(std::span<const std::uint8_t> bytes) {
  if (startsWith(bytes, "RIFF") && startsWith(bytes, "WEBP", 8)) return "WebP";
  if (startsWith(bytes, "\xABKTX 20")) return "KTX2";
  if (startsWith(bytes, "\xABKTX 11")) return "KTX";
  if (startsWith(bytes, "DDS ")) return "DDS";
  if (startsWith(bytes, "GIF8")) return "GIF";
  if (startsWith(bytes, "BM")) return "BMP";
  if (startsWith(bytes, "II*") || startsWith(bytes, "MM")) return "TIFF";
  if (startsWith(bytes, "v/1\x01")) return "OpenEXR";
  if (startsWith(bytes, "#?RADIANCE")) return "Radiance HDR";
  return {};
}

}  // namespace

Result<Rgba8Image> decodeImage(std::span<const std::uint8_t> bytes, std::string_view name) {
  if (startsWith(bytes, "\x89PNG")) return decodePng(bytes, name);
  if (startsWith(bytes, "\xFF\xD8\xFF")) return detail::decodeJpeg(bytes, name);
  const std::string_view other = otherFormat(bytes);
  return Error{ErrorCode::Unsupported,
               (other.empty() ? std::string("not a PNG or JPEG picture")
                              : std::string(other) + " pictures are not read") +
                   "; PNG and JPEG are",
               {.file = std::string(name)}};
}

Result<Rgba8Image> loadImage(const std::filesystem::path& file) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file));
  return decodeImage(bytes, file.string());
}

Result<FloatImage> decodeFloatImage(std::span<const std::uint8_t> bytes, std::string_view name,
                                    Curve curve) {
  if (startsWith(bytes, "\x89PNG")) {
    DERM_TRY(const UInt16Image deep, decodePng16(bytes, name));
    return floatImage(deep, curve);
  }
  DERM_TRY(const Rgba8Image image, decodeImage(bytes, name));
  const FloatImage all = floatImage(image, curve);
  FloatImage out(all.width, all.height, 3);
  for (std::size_t i = 0; i < image.pixels.size(); ++i)
    std::copy_n(all.values.data() + 4 * i, 3, out.values.data() + 3 * i);
  return out;
}

Result<FloatImage> loadFloatImage(const std::filesystem::path& file, Curve curve) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file));
  return decodeFloatImage(bytes, file.string(), curve);
}

}  // namespace derm
