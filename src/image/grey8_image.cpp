#include "derm/image/grey8_image.h"

#include "derm/base/assert.h"

namespace derm {

Grey8Image::Grey8Image(int width_px, int height_px, std::uint8_t value)
    : width(width_px), height(height_px) {
  DERM_REQUIRE(width_px >= 0 && height_px >= 0);
  pixels.assign(static_cast<std::size_t>(width_px) * static_cast<std::size_t>(height_px), value);
}

void toGrey(const Rgba8Image& image, Grey8Image& grey) {
  grey.width = image.width;
  grey.height = image.height;
  grey.pixels.resize(image.pixels.size());
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const Rgba8& p = image.pixels[i];
    // 0.299, 0.587, 0.114 in 1/16384; they add up to one, so white stays white.
    grey.pixels[i] =
        static_cast<std::uint8_t>((4899u * p.r + 9617u * p.g + 1868u * p.b + 8192u) >> 14);
  }
}

}  // namespace derm
