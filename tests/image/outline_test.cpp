#include "derm/image/outline.h"

#include <gtest/gtest.h>

namespace derm::outline_test {
namespace {

constexpr Rgba8 kWhite = {255, 255, 255, 255};

/// A square of 20 px in a picture of 40, at a depth; the shape is twice as large.
ShapePicture square(std::uint8_t depth) {
  ShapePicture out{Rgba8Image(80, 80, {0, 0, 0, 0}), 2};
  for (int y = 20; y < 60; ++y)
    for (int x = 20; x < 60; ++x) out.picture.at(x, y) = {depth, depth, depth, 255};
  return out;
}

TEST(Outline, RunsAroundTheShapeAndNowhereElse) {
  Rgba8Image canvas(40, 40, kWhite);
  drawOutline(canvas, square(0), {.colour = {0, 0, 0, 255}, .width_px = 2});
  for (const int at : {10, 20, 29}) {
    EXPECT_LT(canvas.at(10, at).r, 128) << at;
    EXPECT_LT(canvas.at(29, at).r, 128) << at;
    EXPECT_LT(canvas.at(at, 10).r, 128) << at;
    EXPECT_LT(canvas.at(at, 29).r, 128) << at;
  }
  EXPECT_EQ(canvas.at(20, 20), kWhite);
  EXPECT_EQ(canvas.at(5, 5), kWhite);
}

TEST(Outline, APartInFrontOfAnotherHasOneToo) {
  ShapePicture shape = square(200);
  for (int y = 20; y < 60; ++y)
    for (int x = 20; x < 40; ++x) shape.picture.at(x, y).r = 40;
  Rgba8Image canvas(40, 40, kWhite);
  drawOutline(canvas, shape, {.colour = {0, 0, 0, 255}, .width_px = 2});
  EXPECT_LT(canvas.at(19, 20).r, 128);
  EXPECT_EQ(canvas.at(14, 20), kWhite);
  EXPECT_EQ(canvas.at(25, 20), kWhite);
}

TEST(Outline, ASlopeIsNoStep) {
  ShapePicture shape = square(0);
  for (int y = 20; y < 60; ++y)
    for (int x = 20; x < 60; ++x)
      shape.picture.at(x, y).r = static_cast<std::uint8_t>(
          std::lround(255 * srgbFromLinear(float(x - 20) / 40)));  // more than min_step each
  Rgba8Image canvas(40, 40, kWhite);
  drawOutline(canvas, shape, {.colour = {0, 0, 0, 255}, .width_px = 1, .min_step = 0.02f});
  for (int x = 13; x < 27; ++x) EXPECT_EQ(canvas.at(x, 20), kWhite) << x;
}

TEST(Outline, WhatThePictureCutsOffDoesNotEndThere) {
  Rgba8Image canvas(10, 10, kWhite);
  drawOutline(canvas, {Rgba8Image(20, 20, {0, 0, 0, 255}), 2});
  EXPECT_EQ(canvas, Rgba8Image(10, 10, kWhite));
}

TEST(Outline, BeyondIsWhereOnlyTheFirstShapeIs) {
  ShapePicture other = square(0);
  for (int y = 20; y < 60; ++y)
    for (int x = 20; x < 30; ++x) other.picture.at(x, y).a = 0;
  Rgba8Image canvas(40, 40, kWhite);
  fillBeyond(canvas, square(0), other, {9, 9, 9, 255});
  EXPECT_EQ(canvas.at(12, 20), (Rgba8{9, 9, 9, 255}));
  EXPECT_EQ(canvas.at(20, 20), kWhite);
  EXPECT_EQ(canvas.at(5, 20), kWhite);
}

}  // namespace
}  // namespace derm::outline_test
