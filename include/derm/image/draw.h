#pragma once

#include <span>
#include <string_view>

#include "derm/image/rgba8_image.h"
#include "derm/math/vec.h"

namespace derm {

/// Antialiased drawing on a picture, for labels, legends and plots. Coordinates are continuous
/// pixels (y down); what lies outside the canvas is cut off; not finite ones draw nothing. Same
/// input, same bytes.

/// Part of a canvas that drawing is kept to. [px]
struct ClipRect {
  float left = 0;
  float top = 0;
  float right = 0;
  float bottom = 0;
};

/// A stroke with round ends and joints through the points. Where it crosses itself it does not get
/// darker. A single point gives a dot. `clip` null = the whole canvas.
void drawPolyline(Rgba8Image& canvas, std::span<const Vec2f> points, float width_px, Rgba8 colour,
                  const ClipRect* clip = nullptr);
void drawLine(Rgba8Image& canvas, const Vec2f& from, const Vec2f& to, float width_px, Rgba8 colour);

/// An upright rectangle; partly covered pixels are partly painted.
void fillRect(Rgba8Image& canvas, const ClipRect& rect, Rgba8 colour);
/// The same with quarter-circle corners.
void fillRoundRect(Rgba8Image& canvas, const ClipRect& rect, float radius_px, Rgba8 colour);

enum class TextAlign { Left, Centre, Right };

struct TextStyle {
  float size_px = 16.0f;  ///< [px] em height; capitals are 0.7 of it. Readable from about 11 up
  Rgba8 colour = {40, 44, 52, 255};
  TextAlign align = TextAlign::Left;
  bool bold = false;
  bool upwards = false;  ///< turned a quarter left, as the label of a y axis
};

/// Draws one line of UTF-8 text with `anchor` on its base line. The font is derm's own: strokes of
/// straight lines and arcs for ASCII and ° ² ³ µ × · – ⁻; other characters show as a small box, and
/// bytes that are no UTF-8 too.
void drawText(Rgba8Image& canvas, const Vec2f& anchor, std::string_view text,
              const TextStyle& style);

/// [px] how far drawText moves on.
float textWidth(std::string_view text, float size_px);

}  // namespace derm
