#include "derm/io/photo_file.h"

#include <algorithm>
#include <array>
#include <optional>

#include "derm/base/assert.h"
#include "derm/io/file_bytes.h"
#include "derm/io/image_file.h"

namespace derm {
namespace {

using Bytes = std::span<const std::uint8_t>;

/// Numbers of a TIFF header's byte order; none where the bytes end before.
struct Tiff {
  Bytes bytes;
  bool little = false;

  std::optional<std::uint32_t> number(std::size_t at, std::size_t size) const {
    if (at > bytes.size() || bytes.size() - at < size) return {};
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < size; ++i) out = out << 8 | bytes[at + (little ? size - 1 - i : i)];
    return out;
  }
};

/// Tag 274 of the first directory.
int orientationOf(Bytes tiff_bytes) {
  constexpr std::uint32_t kOrientation = 274;
  if (tiff_bytes.size() < 8 || tiff_bytes[0] != tiff_bytes[1]) return 1;
  const Tiff tiff{tiff_bytes, tiff_bytes[0] == 'I'};
  const auto directory = tiff.number(4, 4);
  const auto count = directory ? tiff.number(*directory, 2) : std::nullopt;
  if (!count) return 1;
  for (std::size_t i = 0; i < *count; ++i) {
    const std::size_t entry = *directory + 2 + 12 * i;
    const auto tag = tiff.number(entry, 2);
    const auto value = tiff.number(entry + 8, 2);
    if (!tag || !value) return 1;
    if (*tag == kOrientation) return *value >= 1 && *value <= 8 ? static_cast<int>(*value) : 1;
  }
  return 1;
}

}  // namespace

int exifOrientation(Bytes bytes) {
  constexpr std::array<std::uint8_t, 6> kExif = {'E', 'x', 'i', 'f', 0, 0};
  if (bytes.size() < 4 || bytes[0] != 0xFF || bytes[1] != 0xD8) return 1;
  for (std::size_t at = 2; at + 4 <= bytes.size() && bytes[at] == 0xFF;) {
    const std::uint8_t marker = bytes[at + 1];
    if (marker == 0xFF) {  // any number of these may stand before a marker
      ++at;
      continue;
    }
    if (marker == 0xDA || marker == 0xD9) return 1;  // pixels follow
    const std::size_t length = static_cast<std::size_t>(bytes[at + 2]) << 8 | bytes[at + 3];
    if (length < 2 || length > bytes.size() - at - 2) return 1;
    const Bytes segment = bytes.subspan(at + 4, length - 2);
    if (marker == 0xE1 && segment.size() >= kExif.size() &&
        std::equal(kExif.begin(), kExif.end(), segment.begin()))
      return orientationOf(segment.subspan(kExif.size()));
    at += 2 + length;
  }
  return 1;
}

FloatImage upright(const FloatImage& image, int orientation) {
  DERM_REQUIRE(orientation >= 1 && orientation <= 8);
  if (orientation == 1) return image;
  const bool turned = orientation >= 5;
  FloatImage out(turned ? image.height : image.width, turned ? image.width : image.height,
                 image.channels);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      // Exif names the sides of the scene that the first row and column of the file are.
      int from_x = turned ? y : x, from_y = turned ? x : y;
      const bool flip_x =
          orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
      const bool flip_y =
          orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
      if (flip_x) from_x = image.width - 1 - from_x;
      if (flip_y) from_y = image.height - 1 - from_y;
      for (int c = 0; c < image.channels; ++c) out.at(x, y, c) = image.at(from_x, from_y, c);
    }
  return out;
}

Result<FloatImage> loadPhoto(const std::filesystem::path& file) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file));
  DERM_TRY(const FloatImage image, decodeFloatImage(bytes, file.string(), Curve::Srgb));
  return upright(image, exifOrientation(bytes));
}

}  // namespace derm
