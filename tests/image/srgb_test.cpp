#include "derm/image/srgb.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/image/rgba8_image.h"

namespace derm::srgb_test {
namespace {

TEST(Srgb, All256ValuesAreTheStandardsToTheLastBitAndComeBack) {
  for (int v = 0; v < 256; ++v) {
    const float encoded = float(v) / 255.0f;
    const double e = double(encoded);
    const auto exact = float(e <= 0.04045 ? e / 12.92 : std::pow((e + 0.055) / 1.055, 2.4));
    const float linear = linearFromSrgb(encoded);
    EXPECT_EQ(linear, exact) << v;
    EXPECT_EQ(std::lround(255 * srgbFromLinear(linear)), v);
    // Pictures, and colours of four floats, go by the same curve.
    const auto b = static_cast<std::uint8_t>(v);
    EXPECT_EQ(linearColour({b, b, b, b}), Vec4f(linear, linear, linear, encoded));
    EXPECT_EQ(linearFromSrgb(Vec4f(encoded, 0, 1, encoded)), Vec4f(linear, 0, 1, encoded));
  }
}

TEST(Srgb, PixelsAreEncodedAsTheCurveSays) {
  const auto expected = [](float linear) {
    return int(std::lround(255.0f * srgbFromLinear(linear)));
  };
  const auto check = [&](float linear) {
    ASSERT_EQ(int(encodedColour(Vec4f(linear, 0, 0, 1)).r), expected(linear)) << linear;
  };
  Rng rng(3);
  for (int i = 0; i < 200000; ++i) {
    const float u = float(rng.next() >> 40) * 0x1p-24f;
    check(u);
    check(u * u * u * u);
  }
  // Both sides of every step.
  for (int v = 0; v < 255; ++v) {
    float step = linearFromSrgb((float(v) + 0.5f) / 255.0f);
    for (int i = 0; i < 8; ++i) step = std::nextafter(step, 0.0f);
    for (int i = 0; i < 16; ++i, step = std::nextafter(step, 1.0f)) check(step);
  }
  for (const float v : {-1.0f, 0.0f, 1.0f, 2.0f, std::numeric_limits<float>::infinity(),
                        -std::numeric_limits<float>::infinity()})
    check(v);
  EXPECT_EQ(encodedColour(Vec4f(std::numeric_limits<float>::quiet_NaN(), 0, 0, 1)).r, 0);
}

TEST(Srgb, TheCurveRisesAndStaysInItsRange) {
  EXPECT_EQ(linearFromSrgb(-1.0f), 0.0f);
  EXPECT_EQ(linearFromSrgb(3.0f), 1.0f);
  EXPECT_EQ(srgbFromLinear(1.0f), 1.0f);
  float before = -1;
  for (int i = 0; i <= 65535; ++i) {
    const float linear = linearFromSrgb(float(i) / 65535.0f);
    ASSERT_GT(linear, before);
    ASSERT_EQ(std::lround(65535 * srgbFromLinear(linear)), i);
    before = linear;
  }
}

}  // namespace
}  // namespace derm::srgb_test
