#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "derm/image/srgb.h"
#include "derm/math/vec.h"

namespace derm {

/// One pixel: sRGB-encoded colour, straight (not premultiplied) linear alpha.
struct Rgba8 {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
  std::uint8_t a = 255;

  bool operator==(const Rgba8&) const = default;
};
static_assert(sizeof(Rgba8) == 4);

/// A picture in memory: rows from top to bottom, pixels from left to right, no padding. Plain data;
/// files are io's business. Pixel (x, y) covers the square [x, x+1] x [y, y+1]; drawing functions
/// take such continuous coordinates, so the middle of the first pixel is (0.5, 0.5).
struct Rgba8Image {
  int width = 0;   ///< [px] >= 0
  int height = 0;  ///< [px] >= 0
  std::vector<Rgba8> pixels;

  Rgba8Image() = default;
  /// Requires sizes >= 0.
  Rgba8Image(int width_px, int height_px, Rgba8 colour = {0, 0, 0, 255});

  bool empty() const { return pixels.empty(); }
  /// Requires 0 <= x < width and 0 <= y < height (checked builds check it).
  Rgba8& at(int x, int y) { return pixels[index(x, y)]; }
  const Rgba8& at(int x, int y) const { return pixels[index(x, y)]; }
  bool operator==(const Rgba8Image&) const = default;

 private:
  std::size_t index(int x, int y) const;
};

/// Linear RGBA [0,1] of a pixel, and back with rounding.
Vec4f linearColour(Rgba8 pixel);
Rgba8 encodedColour(const Vec4f& linear);

/// Linear RGBA at a continuous position, bilinear between pixel middles, edges extended. Alpha
/// weights the colours, so clear pixels do not bleed in. Requires a picture that is not empty.
Vec4f sampleBilinear(const Rgba8Image& image, float x, float y);

/// Every factor x factor block becomes one pixel: mean in linear light, weighted by alpha. Rows and
/// columns left over at the right and bottom are dropped. Requires factor >= 1.
Rgba8Image boxDownscaled(const Rgba8Image& image, int factor);

/// The part of a picture inside a rectangle; what lies outside the picture is clear black.
Rgba8Image cropped(const Rgba8Image& image, int x, int y, int width, int height);

/// Lays `over` with `coverage` [0,1] on a pixel. Mixed in sRGB values as drawing programs and
/// browsers do, so thin dark strokes keep their weight.
void blend(Rgba8& under, Rgba8 over, float coverage = 1.0f);

/// Lays a picture on a canvas with its left top corner at (x, y); what sticks out is cut off.
void composite(Rgba8Image& canvas, const Rgba8Image& over, int x, int y);

}  // namespace derm
