#include "derm/image/rgba8_image.h"

#include <gtest/gtest.h>

namespace derm::rgba8_image_test {
namespace {

TEST(Rgba8Image, EveryPixelValueSurvivesTheWayToLinearLightAndBack) {
  for (int v = 0; v < 256; ++v) {
    const auto b = static_cast<std::uint8_t>(v);
    const Rgba8 pixel{b, static_cast<std::uint8_t>(255 - v), b, b};
    EXPECT_EQ(encodedColour(linearColour(pixel)), pixel) << v;
  }
}

TEST(Rgba8Image, DownscalingAveragesLightNotCodes) {
  Rgba8Image checker(4, 4);
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 4; ++x)
      if ((x + y) % 2 == 0) checker.at(x, y) = {255, 255, 255, 255};
  const Rgba8Image half = boxDownscaled(checker, 2);
  ASSERT_EQ(half.width, 2);
  ASSERT_EQ(half.height, 2);
  for (const Rgba8& p : half.pixels) EXPECT_EQ(p.r, 188);  // sRGB of half the light
}

TEST(Rgba8Image, DownscalingDropsRowsAndColumnsLeftOver) {
  EXPECT_EQ(boxDownscaled(Rgba8Image(7, 5), 3), Rgba8Image(2, 1));
}

TEST(Rgba8Image, ClearPixelsDoNotBleedTheirColour) {
  Rgba8Image image(2, 1, {255, 0, 0, 255});
  image.at(1, 0) = {0, 255, 0, 0};
  const Rgba8 mean = boxDownscaled(Rgba8Image(image), 1).at(0, 0);
  EXPECT_EQ(mean, (Rgba8{255, 0, 0, 255}));
  const Vec4f between = sampleBilinear(image, 1.0f, 0.5f);
  EXPECT_NEAR(between.x(), 1.0f, 1e-6f);
  EXPECT_EQ(between.y(), 0.0f);
  EXPECT_NEAR(between.w(), 0.5f, 1e-6f);
}

TEST(Rgba8Image, SamplingBeyondTheEdgesExtendsThem) {
  Rgba8Image image(2, 2, {10, 20, 30, 255});
  image.at(1, 1) = {200, 100, 50, 255};
  EXPECT_EQ(encodedColour(sampleBilinear(image, -50, -50)), image.at(0, 0));
  EXPECT_EQ(encodedColour(sampleBilinear(image, 50, 50)), image.at(1, 1));
}

TEST(Rgba8Image, CompositingCutsOffWhatSticksOut) {
  Rgba8Image canvas(3, 3, {0, 0, 0, 255});
  composite(canvas, Rgba8Image(2, 2, {255, 255, 255, 255}), 2, -1);
  int white = 0;
  for (const Rgba8& p : canvas.pixels) white += p.r == 255;
  EXPECT_EQ(white, 1);
  EXPECT_EQ(canvas.at(2, 0).r, 255);
  const Rgba8Image before = canvas;
  composite(canvas, Rgba8Image(2, 2, {255, 0, 0, 255}), 1000000, -1000000);
  EXPECT_EQ(canvas, before);
}

TEST(Rgba8Image, BlendingHalfClearOverClearKeepsTheColour) {
  Rgba8 pixel{0, 0, 0, 0};
  blend(pixel, {200, 100, 50, 128});
  EXPECT_EQ(pixel, (Rgba8{200, 100, 50, 128}));
}

TEST(Rgba8Image, CroppingOutsideThePictureIsClear) {
  const Rgba8Image out = cropped(Rgba8Image(2, 2, {9, 9, 9, 255}), 1, 1, 2, 2);
  EXPECT_EQ(out.at(0, 0), (Rgba8{9, 9, 9, 255}));
  EXPECT_EQ(out.at(1, 1).a, 0);
}

}  // namespace
}  // namespace derm::rgba8_image_test
