#pragma once

#include "derm/image/rgba8_image.h"

namespace derm {

/// The shape of something drawn, for outlines: alpha says where it is, red how far away, from 0 at
/// its nearest point to 1 at its farthest (sRGB-encoded as every picture). Drawn `factor` times as
/// large as the picture it belongs to, in both directions, so that strokes have soft edges.
struct ShapePicture {
  Rgba8Image picture;
  int factor = 2;  ///< >= 1
};

struct OutlineStyle {
  Rgba8 colour = {52, 54, 60, 255};
  float width_px = 2.0f;   ///< [px] of the picture, > 0
  float min_step = 0.04f;  ///< [0,1] of the shape's depth: smaller steps inside it get no stroke
};

/// Strokes where the shape ends: at the background, and where one part of it stands before another.
/// Requires a shape `factor` times as large as the canvas. O(pixels).
void drawOutline(Rgba8Image& canvas, const ShapePicture& shape, const OutlineStyle& style = {});

/// Lays `colour` where the first shape is and the second is not. Sizes as above.
void fillBeyond(Rgba8Image& canvas, const ShapePicture& shape, const ShapePicture& other,
                Rgba8 colour);

}  // namespace derm
