#include "derm/image/draw.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace derm::draw_test {
namespace {

/// Painted area in pixels, from how dark a white canvas got.
double ink(const Rgba8Image& canvas) {
  double sum = 0;
  for (const Rgba8& p : canvas.pixels) sum += 1.0 - p.r / 255.0;
  return sum;
}

Rgba8Image white(int width, int height) { return Rgba8Image(width, height, {255, 255, 255, 255}); }
constexpr Rgba8 kBlack = {0, 0, 0, 255};

TEST(Draw, AStrokeCoversItsAreaInEveryDirection) {
  for (int degrees = 0; degrees < 180; degrees += 17) {
    Rgba8Image canvas = white(200, 200);
    const double angle = degrees * 3.14159265358979 / 180;
    const Vec2f half(60 * float(std::cos(angle)), 60 * float(std::sin(angle)));
    drawLine(canvas, Vec2f(Vec2f(100.3f, 99.6f) - half), Vec2f(Vec2f(100.3f, 99.6f) + half), 4,
             kBlack);
    const double expected = 120 * 4 + 3.14159265 * 4;  // with its round ends
    EXPECT_NEAR(ink(canvas), expected, 0.03 * expected) << degrees;
  }
}

TEST(Draw, AStrokeThinnerThanAPixelGetsFainterInstead) {
  Rgba8Image thin = white(100, 20), thick = white(100, 20);
  drawLine(thin, Vec2f(10, 10.5f), Vec2f(90, 10.5f), 0.25f, kBlack);
  drawLine(thick, Vec2f(10, 10.5f), Vec2f(90, 10.5f), 1.0f, kBlack);
  EXPECT_NEAR(ink(thin), 0.25 * ink(thick), 0.02 * ink(thick));
}

TEST(Draw, ACrossingStrokeDoesNotGetDarker) {
  Rgba8Image canvas = white(40, 40);
  const Vec2f zigzag[] = {{5, 5}, {35, 35}, {5, 35}, {35, 5}};
  drawPolyline(canvas, zigzag, 5, {0, 0, 0, 100});
  for (const Rgba8& p : canvas.pixels) EXPECT_GE(int(p.r), 154);
}

TEST(Draw, NumbersThatAreNoneAndPointsFarOutsideDrawNothing) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Rgba8Image canvas = white(30, 30);
  const Rgba8Image before = canvas;
  drawLine(canvas, Vec2f(nan, 3), Vec2f(10, 10), 2, kBlack);
  drawLine(canvas, Vec2f(1e30f, 1e30f), Vec2f(2e30f, 1e30f), 2, kBlack);
  drawLine(canvas, Vec2f(5, 5), Vec2f(9, 9), nan, kBlack);
  fillRect(canvas, {nan, nan, nan, nan}, kBlack);
  fillRoundRect(canvas, {nan, 0, 5, 5}, 2, kBlack);
  drawText(canvas, Vec2f(nan, 0), "abc", {});
  drawText(canvas, Vec2f(-1e30f, 1e30f), "abc", {});
  EXPECT_EQ(canvas, before);
}

TEST(Draw, RectanglesPaintPartsOfPixels) {
  Rgba8Image canvas = white(10, 10);
  fillRect(canvas, {1.5f, 2, 4.25f, 5}, kBlack);
  EXPECT_NEAR(ink(canvas), 2.75 * 3, 0.05);
  Rgba8Image round = white(100, 100);
  fillRoundRect(round, {10, 10, 90, 90}, 20, kBlack);
  EXPECT_NEAR(ink(round), 80 * 80 - (4 - 3.14159265) * 400, 20);
}

TEST(Draw, EveryAsciiCharacterHasAGlyphOfItsOwn) {
  std::vector<Rgba8Image> seen;
  for (char c = '!'; c <= '~'; ++c) {
    Rgba8Image canvas = white(60, 60);
    TextStyle style;
    style.size_px = 40;
    drawText(canvas, Vec2f(10, 40), std::string(1, c), style);
    EXPECT_GT(ink(canvas), 8) << c;
    for (std::size_t i = 0; i < seen.size(); ++i)
      EXPECT_NE(canvas, seen[i]) << c << " looks like " << char('!' + i);
    seen.push_back(canvas);
  }
}

TEST(Draw, TextWidthsAddUpAndScale) {
  EXPECT_NEAR(textWidth("volume", 20) + textWidth(" [m]", 20), textWidth("volume [m]", 20), 1e-3);
  EXPECT_NEAR(textWidth("volume", 40), 2 * textWidth("volume", 20), 1e-3);
  EXPECT_EQ(textWidth("0000", 20), textWidth("1471", 20));  // figures of tables line up
  EXPECT_EQ(textWidth("", 20), 0);
}

TEST(Draw, BytesThatAreNoUtf8ShowAsBoxes) {
  const float box = textWidth("\xEF\xBF\xBD", 20);  // U+FFFD itself
  EXPECT_EQ(textWidth("\xFF", 20), box);
  EXPECT_EQ(textWidth("\x80\x80", 20), 2 * box);
  EXPECT_EQ(textWidth("\xC2", 20), box);          // cut off
  EXPECT_EQ(textWidth("\xE2\x80", 20), 2 * box);  // cut off
  EXPECT_EQ(textWidth("\xC2\xB0", 20), textWidth("\u00B0", 20));
  EXPECT_LT(textWidth("\u00B0", 20), box);
}

TEST(Draw, AlignedTextLiesWhereItsAlignmentSays) {
  const auto columns = [](TextAlign align) {
    Rgba8Image canvas = white(200, 40);
    TextStyle style;
    style.align = align;
    style.size_px = 20;
    drawText(canvas, Vec2f(100, 30), "middle", style);
    double left = 0, right = 0;
    for (int y = 0; y < 40; ++y)
      for (int x = 0; x < 200; ++x) (x < 100 ? left : right) += 1.0 - canvas.at(x, y).r / 255.0;
    return std::pair(left, right);
  };
  EXPECT_EQ(columns(TextAlign::Left).first, 0);
  EXPECT_EQ(columns(TextAlign::Right).second, 0);
  const auto [left, right] = columns(TextAlign::Centre);
  EXPECT_NEAR(left, right, 0.35 * (left + right));
}

}  // namespace
}  // namespace derm::draw_test
