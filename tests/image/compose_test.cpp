#include "derm/image/compose.h"

#include <array>

#include <gtest/gtest.h>

namespace derm::compose_test {
namespace {

constexpr Rgba8 kRed = {255, 0, 0, 255};
constexpr Rgba8 kBlue = {0, 0, 255, 255};

TEST(Compose, SideBySideKeepsEveryPictureAndTheGap) {
  const std::array<Rgba8Image, 2> images = {Rgba8Image(4, 3, kRed), Rgba8Image(2, 5, kBlue)};
  const Rgba8Image out = sideBySide(images, 3);
  ASSERT_EQ(out.width, 9);
  ASSERT_EQ(out.height, 5);
  EXPECT_EQ(out.at(3, 2), kRed);
  EXPECT_EQ(out.at(4, 0), (Rgba8{255, 255, 255, 255}));
  EXPECT_EQ(out.at(7, 4), kBlue);
  EXPECT_EQ(out.at(0, 4), (Rgba8{255, 255, 255, 255}));
  EXPECT_TRUE(sideBySide({}, 3).empty());
}

TEST(Compose, AGridHasEqualCells) {
  const std::array<Rgba8Image, 3> images = {Rgba8Image(4, 4, kRed), Rgba8Image(2, 2, kBlue),
                                            Rgba8Image(4, 2, kRed)};
  const Rgba8Image out = gridOf(images, 2, 1);
  ASSERT_EQ(out.width, 9);
  ASSERT_EQ(out.height, 9);
  EXPECT_EQ(out.at(6, 1), kBlue);  // centred in its cell
  EXPECT_EQ(out.at(5, 0), (Rgba8{255, 255, 255, 255}));
}

TEST(Compose, ASplitShowsBeforeOnTheLeftAndAfterOnTheRight) {
  SplitDesc desc;
  desc.divider_px = 2;
  const Rgba8Image out = splitView(Rgba8Image(10, 2, kRed), Rgba8Image(10, 2, kBlue), desc);
  EXPECT_EQ(out.at(3, 0), kRed);
  EXPECT_EQ(out.at(4, 0), desc.divider);
  EXPECT_EQ(out.at(5, 1), desc.divider);
  EXPECT_EQ(out.at(6, 1), kBlue);
  desc.at = 0;
  desc.divider_px = 0;
  EXPECT_EQ(splitView(Rgba8Image(4, 2, kRed), Rgba8Image(4, 2, kBlue), desc),
            Rgba8Image(4, 2, kBlue));
}

TEST(Compose, ALabelStaysInItsCorner) {
  for (const Corner corner :
       {Corner::TopLeft, Corner::TopRight, Corner::BottomLeft, Corner::BottomRight}) {
    Rgba8Image canvas(200, 120, {255, 255, 255, 255});
    drawLabel(canvas, "linear", corner);
    const bool left = corner == Corner::TopLeft || corner == Corner::BottomLeft;
    const bool top = corner == Corner::TopLeft || corner == Corner::TopRight;
    int inside = 0, outside = 0;
    for (int y = 0; y < canvas.height; ++y)
      for (int x = 0; x < canvas.width; ++x)
        if (canvas.at(x, y).r < 200) ((x < 100) == left && (y < 60) == top ? inside : outside)++;
    EXPECT_GT(inside, 500);
    EXPECT_EQ(outside, 0);
  }
}

}  // namespace
}  // namespace derm::compose_test
