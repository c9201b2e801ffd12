#include "derm/image/float_image.h"

#include <limits>

#include <gtest/gtest.h>

namespace derm::float_image_test {
namespace {

TEST(FloatImage, EveryByteComesBackThroughBothCurves) {
  Rgba8Image image(16, 16);
  for (int v = 0; v < 256; ++v) {
    const auto b = static_cast<std::uint8_t>(v);
    image.pixels[std::size_t(v)] = {b, std::uint8_t(255 - v), std::uint8_t(v ^ 85), b};
  }
  for (const Curve curve : {Curve::Linear, Curve::Srgb}) {
    const FloatImage floats = floatImage(image, curve);
    EXPECT_EQ(floats.channels, 4);
    EXPECT_EQ(rgba8Image(floats, curve), image);
    EXPECT_EQ(floats.at(9, 3, 3), float(3 * 16 + 9) / 255.0f) << "alpha has no curve";
  }
  EXPECT_EQ(floatImage(image, Curve::Srgb).at(9, 3, 0), linearFromSrgb(57.0f / 255.0f));
  EXPECT_EQ(floatImage(image, Curve::Linear).at(9, 3, 0), 57.0f / 255.0f);
}

TEST(FloatImage, EveryValueOf16BitsComesBackThroughBothCurves) {
  for (const int channels : {1, 2, 3, 4}) {
    UInt16Image image(1024, 64, channels);
    for (std::size_t i = 0; i < image.values.size(); ++i)
      image.values[i] = static_cast<std::uint16_t>(i / std::size_t(channels) + i % 3);
    for (const Curve curve : {Curve::Linear, Curve::Srgb})
      EXPECT_EQ(uint16Image(floatImage(image, curve), curve), image);
    const FloatImage floats = floatImage(image, Curve::Srgb);
    const int last = channels - 1;
    const float stored = float(image.at(500, 30, last)) / 65535.0f;
    EXPECT_EQ(floats.at(500, 30, last), channels % 2 == 0 ? stored : linearFromSrgb(stored));
  }
}

TEST(FloatImage, FewerChannelsBecomeGreyAndOpaque) {
  FloatImage grey(1, 1, 1, 0.5f);
  EXPECT_EQ(rgba8Image(grey, Curve::Linear).at(0, 0), (Rgba8{128, 128, 128, 255}));
  EXPECT_EQ(rgba8Image(grey, Curve::Srgb).at(0, 0), (Rgba8{188, 188, 188, 255}));
  FloatImage both(1, 1, 2, 0.5f);
  EXPECT_EQ(rgba8Image(both, Curve::Srgb).at(0, 0), (Rgba8{188, 188, 188, 128}));
  FloatImage rgb(1, 1, 3);
  rgb.at(0, 0, 1) = 1;
  EXPECT_EQ(rgba8Image(rgb, Curve::Linear).at(0, 0), (Rgba8{0, 255, 0, 255}));
}

TEST(FloatImage, WhatNoByteCanHoldIsClamped) {
  FloatImage odd(4, 1, 1);
  odd.values = {-3.0f, 7.0f, std::numeric_limits<float>::quiet_NaN(),
                std::numeric_limits<float>::infinity()};
  for (const Curve curve : {Curve::Linear, Curve::Srgb}) {
    const UInt16Image deep = uint16Image(odd, curve);
    EXPECT_EQ(deep.values, (std::vector<std::uint16_t>{0, 65535, 0, 65535}));
    const Rgba8Image bytes = rgba8Image(odd, curve);
    EXPECT_EQ(bytes.at(0, 0).r, 0);
    EXPECT_EQ(bytes.at(1, 0).r, 255);
    EXPECT_EQ(bytes.at(2, 0).r, 0);
    EXPECT_EQ(bytes.at(3, 0).r, 255);
  }
}

TEST(FloatImage, SamplesAreBilinearAndEdgesExtended) {
  FloatImage image(3, 2, 2);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 3; ++x) {
      image.at(x, y, 0) = float(10 * x + 100 * y);  // a plane: exact between middles
      image.at(x, y, 1) = -1;
    }
  EXPECT_EQ(sampleBilinear(image, 0.5f, 0.5f, 0), 0.0f);
  EXPECT_EQ(sampleBilinear(image, 1.25f, 0.75f, 0), 7.5f + 25.0f);
  EXPECT_EQ(sampleBilinear(image, -5, 0.5f, 0), 0.0f);
  EXPECT_EQ(sampleBilinear(image, 50, 50, 0), 120.0f);
  EXPECT_EQ(sampleBilinear(image, 1.25f, 0.75f), Vec4f(32.5f, -1, 0, 0));
}

}  // namespace
}  // namespace derm::float_image_test
