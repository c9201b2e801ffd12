#include "derm/image/difference.h"

#include <gtest/gtest.h>

namespace derm::difference_test {
namespace {

/// Dark left of `edge`, light right of it, with one antialiased column.
Rgba8Image stepPicture(int edge, std::uint8_t edge_value) {
  Rgba8Image out(64, 64, {30, 30, 30, 255});
  for (int y = 0; y < 64; ++y)
    for (int x = edge; x < 64; ++x) {
      const std::uint8_t v = x == edge ? edge_value : std::uint8_t{220};
      out.at(x, y) = {v, v, v, 255};
    }
  return out;
}

TEST(ImageDifference, EqualPicturesHaveNone) {
  const Rgba8Image a = stepPicture(20, 100);
  const auto d = compareImages(a, a);
  ASSERT_TRUE(d.ok());
  EXPECT_EQ(d->largest, 0);
  EXPECT_EQ(d->mean, 0);
  EXPECT_EQ(d->over, 0u);
}

TEST(ImageDifference, AnEdgeThatFallsAFractionOfAPixelElsewhereIsForgiven) {
  DifferenceDesc desc;
  desc.tolerance = 12;
  const auto d = compareImages(stepPicture(20, 100), stepPicture(20, 150), desc);
  ASSERT_TRUE(d.ok());
  EXPECT_EQ(d->over, 0u) << d->largest;
  desc.blur_radius_px = 0;
  const auto sharp = compareImages(stepPicture(20, 100), stepPicture(20, 150), desc);
  EXPECT_EQ(sharp->largest, 50);
  EXPECT_EQ(sharp->over, 64u);
}

TEST(ImageDifference, AMovedEdgeOrAnotherColourIsNot) {
  DifferenceDesc desc;
  desc.tolerance = 12;
  EXPECT_GT(compareImages(stepPicture(20, 100), stepPicture(24, 100), desc)->over, 300u);
  Rgba8Image spot = stepPicture(20, 100);
  for (int y = 40; y < 48; ++y)
    for (int x = 40; x < 48; ++x) spot.at(x, y) = {220, 120, 120, 255};
  const auto d = compareImages(stepPicture(20, 100), spot, desc);
  EXPECT_GT(d->over, 40u);
  // The picture shows where: red there, grey elsewhere.
  EXPECT_GT(int(d->picture.at(44, 44).r), int(d->picture.at(44, 44).g) + 100);
  EXPECT_EQ(d->picture.at(5, 5).r, d->picture.at(5, 5).g);
}

TEST(ImageDifference, DifferentSizesAreAnError) {
  const auto d = compareImages(Rgba8Image(3, 4), Rgba8Image(4, 3));
  ASSERT_FALSE(d.ok());
  EXPECT_NE(d.error().message.find("3x4 and 4x3"), std::string::npos);
}

}  // namespace
}  // namespace derm::difference_test
