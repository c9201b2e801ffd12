#include "derm/image/rgba8_image.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derm/base/assert.h"
#include "derm/base/bit_cast.h"
#include "derm/base/parallel.h"

namespace derm {
namespace {

/// Decoding is a table look-up: pictures have many pixels and only 256 values.
const std::array<float, 256>& srgbTable() {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = linearFromSrgb(float(i) / 255.0f);
    return out;
  }();
  return table;
}

/// Encoding too: the byte is found among the smallest linear values that round to each, starting
/// from one that is a little too low. Gives what toByte(srgbFromLinear()) does, without a power.
class SrgbEncoder {
 public:
  SrgbEncoder();
  std::uint8_t byte(float linear) const {
    if (!(linear > 0)) return 0;
    if (linear >= 1) return 255;
    std::uint8_t out = start_[static_cast<std::size_t>(linear * kSteps)];
    while (out < 255 && linear >= thresholds_[out + 1u]) ++out;
    return out;
  }

 private:
  static constexpr float kSteps = 4096;
  std::array<float, 256> thresholds_{};  ///< linear value from which a byte is reached
  std::array<std::uint8_t, 4096> start_{};
};

std::uint8_t toByte(float value) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0f, 1.0f) * 255.0f));
}

SrgbEncoder::SrgbEncoder() {
  const auto encoded = [](float linear) { return toByte(srgbFromLinear(linear)); };
  for (std::size_t b = 1; b < thresholds_.size(); ++b) {
    // Positive floats have the order of their bits.
    std::uint32_t low = 0, high = bitCast<std::uint32_t>(1.0f);
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      (encoded(bitCast<float>(middle)) >= b ? high : low) = middle;
    }
    thresholds_[b] = bitCast<float>(high);
  }
  for (std::size_t i = 0; i < start_.size(); ++i) start_[i] = encoded(float(i) / kSteps);
}

std::uint8_t encodedByte(float linear) {
  static const SrgbEncoder encoder;
  return encoder.byte(linear);
}

/// Colour times alpha, so that sums of pixels are right where they are partly clear.
Vec4f premultiplied(Rgba8 pixel) {
  const Vec4f c = linearColour(pixel);
  return Vec4f(c.x() * c.w(), c.y() * c.w(), c.z() * c.w(), c.w());
}

Vec4f straight(const Vec4f& c) {
  if (!(c.w() > 0)) return Vec4f::Zero();
  return Vec4f(c.x() / c.w(), c.y() / c.w(), c.z() / c.w(), c.w());
}

}  // namespace

Rgba8Image::Rgba8Image(int width_px, int height_px, Rgba8 colour)
    : width(width_px), height(height_px) {
  DERM_REQUIRE(width >= 0 && height >= 0);
  pixels.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), colour);
}

std::size_t Rgba8Image::index(int x, int y) const {
  DERM_ASSERT(x >= 0 && x < width && y >= 0 && y < height);
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
         static_cast<std::size_t>(x);
}

Vec4f linearColour(Rgba8 pixel) {
  const auto& table = srgbTable();
  return Vec4f(table[pixel.r], table[pixel.g], table[pixel.b], float(pixel.a) / 255.0f);
}

Rgba8 encodedColour(const Vec4f& linear) {
  return {encodedByte(linear.x()), encodedByte(linear.y()), encodedByte(linear.z()),
          toByte(linear.w())};
}

Vec4f sampleBilinear(const Rgba8Image& image, float x, float y) {
  DERM_REQUIRE(!image.empty());
  const float fx = std::clamp(x - 0.5f, 0.0f, float(image.width - 1));
  const float fy = std::clamp(y - 0.5f, 0.0f, float(image.height - 1));
  const int x0 = static_cast<int>(fx), y0 = static_cast<int>(fy);
  const int x1 = std::min(x0 + 1, image.width - 1), y1 = std::min(y0 + 1, image.height - 1);
  const float tx = fx - float(x0), ty = fy - float(y0);
  const Vec4f top =
      premultiplied(image.at(x0, y0)) * (1 - tx) + premultiplied(image.at(x1, y0)) * tx;
  const Vec4f low =
      premultiplied(image.at(x0, y1)) * (1 - tx) + premultiplied(image.at(x1, y1)) * tx;
  return straight(Vec4f(top * (1 - ty) + low * ty));
}

Rgba8Image boxDownscaled(const Rgba8Image& image, int factor) {
  DERM_REQUIRE(factor >= 1);
  if (factor == 1) return image;
  Rgba8Image out(image.width / factor, image.height / factor);
  const float share = 1.0f / (float(factor) * float(factor));
  parallelFor(static_cast<std::size_t>(out.height), 16, [&](std::size_t begin, std::size_t end) {
    for (int y = static_cast<int>(begin); y < static_cast<int>(end); ++y)
      for (int x = 0; x < out.width; ++x) {
        Vec4f sum = Vec4f::Zero();
        for (int dy = 0; dy < factor; ++dy)
          for (int dx = 0; dx < factor; ++dx)
            sum += premultiplied(image.at(x * factor + dx, y * factor + dy));
        out.at(x, y) = encodedColour(straight(Vec4f(sum * share)));
      }
  });
  return out;
}

Rgba8Image cropped(const Rgba8Image& image, int x, int y, int width, int height) {
  Rgba8Image out(width, height, Rgba8{0, 0, 0, 0});
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      const int sx = x + column, sy = y + row;
      if (sx >= 0 && sx < image.width && sy >= 0 && sy < image.height)
        out.at(column, row) = image.at(sx, sy);
    }
  return out;
}

void blend(Rgba8& under, Rgba8 over, float coverage) {
  const float a = std::clamp(coverage, 0.0f, 1.0f) * float(over.a) / 255.0f;
  if (a <= 0) return;
  const float below = float(under.a) / 255.0f * (1 - a);
  const float alpha = a + below;
  const auto mix = [&](std::uint8_t u, std::uint8_t o) {
    return toByte((float(o) * a + float(u) * below) / alpha / 255.0f);
  };
  under = {mix(under.r, over.r), mix(under.g, over.g), mix(under.b, over.b), toByte(alpha)};
}

void composite(Rgba8Image& canvas, const Rgba8Image& over, int x, int y) {
  for (int row = std::max(0, -y); row < over.height && y + row < canvas.height; ++row)
    for (int column = std::max(0, -x); column < over.width && x + column < canvas.width; ++column)
      blend(canvas.at(x + column, y + row), over.at(column, row));
}

}  // namespace derm
