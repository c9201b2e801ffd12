#include "derm/image/colour_map.h"

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace derm::colour_map_test {
namespace {

float luminance(const Vec4f& c) { return 0.2126f * c.x() + 0.7152f * c.y() + 0.0722f * c.z(); }

TEST(ColourMap, LightnessRisesAllTheWay) {
  for (int i = 0; i < 1000; ++i)
    EXPECT_LT(luminance(mapColour(float(i) / 1000)), luminance(mapColour(float(i + 1) / 1000)))
        << i;
}

TEST(ColourMap, ZeroHasAColourThatNoShareComesNear) {
  const Rgba8 zero = encodedColour(zeroColour());
  for (int i = 0; i <= 1000; ++i) {
    const Rgba8 c = encodedColour(mapColour(float(i) / 1000));
    const int apart = std::abs(c.r - zero.r) + std::abs(c.g - zero.g) + std::abs(c.b - zero.b);
    EXPECT_GT(apart, 80) << i;
  }
}

TEST(ColourMap, OnlyExactZeroIsNothing) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  const std::array<float, 4> values = {0.0f, tiny, 1.0f, -0.0f};
  const std::vector<Vec4f> colours = heatColours(values);
  EXPECT_EQ(colours[0], zeroColour());
  EXPECT_EQ(colours[1], mapColour(0));
  EXPECT_EQ(colours[2], mapColour(1));
  EXPECT_EQ(colours[3], zeroColour());
}

TEST(ColourMap, NumbersOutsideAreClamped) {
  EXPECT_EQ(mapColour(-3), mapColour(0));
  EXPECT_EQ(mapColour(7), mapColour(1));
  EXPECT_EQ(mapColour(std::numeric_limits<float>::quiet_NaN()), mapColour(0));
  EXPECT_EQ(mapColour(std::numeric_limits<float>::infinity()), mapColour(0));
}

TEST(ColourMap, TheLegendShowsBothEndsAndZero) {
  const Rgba8Image legend = heatLegend("weight", 1.0f);
  const auto shows = [&](Rgba8 wanted) {
    for (const Rgba8& p : legend.pixels)
      if (std::abs(p.r - wanted.r) + std::abs(p.g - wanted.g) + std::abs(p.b - wanted.b) < 8)
        return true;
    return false;
  };
  EXPECT_TRUE(shows(encodedColour(zeroColour())));
  EXPECT_TRUE(shows(encodedColour(mapColour(0.01f))));
  EXPECT_TRUE(shows(encodedColour(mapColour(0.99f))));
  EXPECT_EQ(heatLegend("", 1.0f, -5).height, 80);
}

}  // namespace
}  // namespace derm::colour_map_test
