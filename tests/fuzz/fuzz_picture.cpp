#include <algorithm>
#include <cmath>
#include <cstdint>

#include "derm/io/image_file.h"
#include "derm/io/photo_file.h"
#include "derm/io/png.h"

#include "expect.h"

using namespace derm;

namespace {

/// What decoded is as large as it says, and can be written and read back.
void expectWhole(const FloatImage& image) {
  fuzz::expect(image.width > 0 && image.height > 0, "a picture has pixels");
  fuzz::expect(static_cast<std::uint64_t>(image.width) * static_cast<std::uint64_t>(image.height) <=
                   kMaxPixels,
               "a picture keeps to the largest size");
  fuzz::expect(image.values.size() == static_cast<std::size_t>(image.width) *
                                          static_cast<std::size_t>(image.height) *
                                          static_cast<std::size_t>(image.channels),
               "every pixel is there");
  fuzz::expect(std::all_of(image.values.begin(), image.values.end(),
                           [](float v) { return std::isfinite(v) && v >= 0 && v <= 1; }),
               "stored numbers are shares of the largest");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int orientation = exifOrientation({data, size});
  fuzz::expect(orientation >= 1 && orientation <= 8, "Exif's eight ways to hold a camera");
  const Result<Rgba8Image> bytes = decodeImage({data, size}, "fuzz");
  // A few bytes of JPEG can stand for 64 million pixels, which say no more than a million do.
  if (bytes.ok() && bytes->pixels.size() > (1u << 20)) return 0;
  const Result<FloatImage> deep = decodeFloatImage({data, size}, "fuzz", Curve::Srgb);
  fuzz::expect(bytes.ok() == deep.ok(), "both readers take the same pictures");
  if (!bytes.ok()) {
    fuzz::expectReadable(bytes.error());
    fuzz::expectReadable(deep.error());
    return 0;
  }
  expectWhole(*deep);
  const FloatImage turned = upright(*deep, orientation);
  fuzz::expect(turned.values.size() == deep->values.size(), "turning keeps all pixels");
  if (bytes->pixels.size() > 4096) return 0;  // compressing takes longer than all else
  const Result<Rgba8Image> again = decodePng(encodePng(*bytes), "again");
  fuzz::expectOk(again, "what is written can be read");
  fuzz::expect(again->pixels == bytes->pixels, "what is written reads back the same");
  return 0;
}
