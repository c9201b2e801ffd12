#include "derm/image/float_image.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derm/base/assert.h"

namespace derm {
namespace {

std::size_t valueCount(int width, int height, int channels) {
  DERM_REQUIRE(width >= 0 && height >= 0 && channels >= 1 && channels <= 4);
  return static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
         static_cast<std::size_t>(channels);
}

std::size_t valueIndex(int x, int y, int channel, int width, int channels) {
  return (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
          static_cast<std::size_t>(x)) *
             static_cast<std::size_t>(channels) +
         static_cast<std::size_t>(channel);
}

bool isAlpha(std::size_t channel, int channels) {
  return channels % 2 == 0 && channel + 1 == static_cast<std::size_t>(channels);
}

/// [0,1]; what is not a number is 0.
float unit(float value) { return value > 0 ? std::min(value, 1.0f) : 0.0f; }

template <class T>
T rounded(float value, float largest) {
  return static_cast<T>(std::lround(unit(value) * largest));
}

/// Where a sample lies: two columns or rows, and how far it is from the first to the second.
struct Between {
  int first = 0;
  int second = 0;
  float share = 0;
};
Between between(float at, int size) {
  const float f = std::clamp(at - 0.5f, 0.0f, float(size - 1));
  const int first = static_cast<int>(f);
  return {first, std::min(first + 1, size - 1), f - float(first)};
}

float mixed(const FloatImage& image, const Between& x, const Between& y, int channel) {
  const float top = image.at(x.first, y.first, channel) * (1 - x.share) +
                    image.at(x.second, y.first, channel) * x.share;
  const float low = image.at(x.first, y.second, channel) * (1 - x.share) +
                    image.at(x.second, y.second, channel) * x.share;
  return top * (1 - y.share) + low * y.share;
}

}  // namespace

FloatImage::FloatImage(int width_px, int height_px, int channel_count, float value)
    : width(width_px), height(height_px), channels(channel_count) {
  values.assign(valueCount(width, height, channels), value);
}

std::size_t FloatImage::index(int x, int y, int channel) const {
  DERM_ASSERT(x >= 0 && x < width && y >= 0 && y < height && channel >= 0 && channel < channels);
  return valueIndex(x, y, channel, width, channels);
}

UInt16Image::UInt16Image(int width_px, int height_px, int channel_count, std::uint16_t value)
    : width(width_px), height(height_px), channels(channel_count) {
  values.assign(valueCount(width, height, channels), value);
}

std::size_t UInt16Image::index(int x, int y, int channel) const {
  DERM_ASSERT(x >= 0 && x < width && y >= 0 && y < height && channel >= 0 && channel < channels);
  return valueIndex(x, y, channel, width, channels);
}

float sampleBilinear(const FloatImage& image, float x, float y, int channel) {
  DERM_REQUIRE(!image.empty());
  return mixed(image, between(x, image.width), between(y, image.height), channel);
}

Vec4f sampleBilinear(const FloatImage& image, float x, float y) {
  DERM_REQUIRE(!image.empty());
  const Between column = between(x, image.width), row = between(y, image.height);
  Vec4f out = Vec4f::Zero();
  for (int c = 0; c < image.channels; ++c) out[c] = mixed(image, column, row, c);
  return out;
}

FloatImage floatImage(const Rgba8Image& image, Curve curve) {
  FloatImage out(image.width, image.height, 4);
  float* value = out.values.data();
  for (const Rgba8& pixel : image.pixels) {
    const Vec4f colour =
        curve == Curve::Srgb
            ? linearColour(pixel)
            : Vec4f(Vec4f(float(pixel.r), float(pixel.g), float(pixel.b), float(pixel.a)) / 255.0f);
    value = std::copy_n(colour.data(), 4, value);
  }
  return out;
}

FloatImage floatImage(const UInt16Image& image, Curve curve) {
  FloatImage out(image.width, image.height, image.channels);
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    const float encoded = float(image.values[i]) / 65535.0f;
    out.values[i] = curve == Curve::Srgb && !isAlpha(i % channels, image.channels)
                        ? linearFromSrgb(encoded)
                        : encoded;
  }
  return out;
}

Rgba8Image rgba8Image(const FloatImage& image, Curve curve) {
  Rgba8Image out(image.width, image.height);
  const auto channels = static_cast<std::size_t>(image.channels);
  const bool grey = channels < 3, has_alpha = channels % 2 == 0;
  for (std::size_t i = 0; i < out.pixels.size(); ++i) {
    const float* value = image.values.data() + i * channels;
    const Vec4f colour(unit(value[0]), unit(value[grey ? 0 : 1]), unit(value[grey ? 0 : 2]),
                       has_alpha ? unit(value[channels - 1]) : 1.0f);
    if (curve == Curve::Srgb) {
      out.pixels[i] = encodedColour(colour);
      continue;
    }
    const auto byte = [](float v) { return rounded<std::uint8_t>(v, 255.0f); };
    out.pixels[i] = {byte(colour.x()), byte(colour.y()), byte(colour.z()), byte(colour.w())};
  }
  return out;
}

UInt16Image uint16Image(const FloatImage& image, Curve curve) {
  UInt16Image out(image.width, image.height, image.channels);
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    const float linear = unit(image.values[i]);
    const bool curved = curve == Curve::Srgb && !isAlpha(i % channels, image.channels);
    out.values[i] = rounded<std::uint16_t>(curved ? srgbFromLinear(linear) : linear, 65535.0f);
  }
  return out;
}

}  // namespace derm
