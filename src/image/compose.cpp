#include "derm/image/compose.h"

#include <algorithm>
#include <cmath>

#include "derm/base/assert.h"
#include "derm/image/draw.h"

namespace derm {

Rgba8Image sideBySide(std::span<const Rgba8Image> images, int gap_px, Rgba8 background) {
  if (images.empty()) return {};
  DERM_REQUIRE(gap_px >= 0);
  int width = gap_px * (static_cast<int>(images.size()) - 1), height = 0;
  for (const Rgba8Image& image : images) {
    width += image.width;
    height = std::max(height, image.height);
  }
  Rgba8Image out(width, height, background);
  int x = 0;
  for (const Rgba8Image& image : images) {
    composite(out, image, x, 0);
    x += image.width + gap_px;
  }
  return out;
}

Rgba8Image gridOf(std::span<const Rgba8Image> images, int columns, int gap_px, Rgba8 background) {
  DERM_REQUIRE(columns >= 1 && gap_px >= 0);
  if (images.empty()) return {};
  const int count = static_cast<int>(images.size());
  columns = std::min(columns, count);
  const int rows = (count + columns - 1) / columns;
  int cell_w = 0, cell_h = 0;
  for (const Rgba8Image& image : images) {
    cell_w = std::max(cell_w, image.width);
    cell_h = std::max(cell_h, image.height);
  }
  Rgba8Image out(columns * cell_w + (columns - 1) * gap_px, rows * cell_h + (rows - 1) * gap_px,
                 background);
  for (int i = 0; i < count; ++i) {
    const Rgba8Image& image = images[static_cast<std::size_t>(i)];
    composite(out, image, (i % columns) * (cell_w + gap_px) + (cell_w - image.width) / 2,
              (i / columns) * (cell_h + gap_px) + (cell_h - image.height) / 2);
  }
  return out;
}

Rgba8Image splitView(const Rgba8Image& before, const Rgba8Image& after, const SplitDesc& desc) {
  DERM_REQUIRE(before.width == after.width && before.height == after.height);
  const float at = std::clamp(desc.at, 0.0f, 1.0f) * float(before.width);
  const int border = static_cast<int>(std::lround(at));
  Rgba8Image out = after;
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < border; ++x) out.at(x, y) = before.at(x, y);
  if (desc.divider_px > 0)
    fillRect(out,
             {float(border) - desc.divider_px / 2, 0, float(border) + desc.divider_px / 2,
              float(out.height)},
             desc.divider);
  return out;
}

void drawLabel(Rgba8Image& canvas, std::string_view text, Corner corner, float size_px) {
  const float margin = size_px * 0.8f, pad = size_px * 0.55f;
  const float width = textWidth(text, size_px) + 2 * pad, height = size_px * 1.7f;
  const bool left = corner == Corner::TopLeft || corner == Corner::BottomLeft;
  const bool top = corner == Corner::TopLeft || corner == Corner::TopRight;
  const float x = left ? margin : float(canvas.width) - margin - width;
  const float y = top ? margin : float(canvas.height) - margin - height;
  fillRoundRect(canvas, {x, y, x + width, y + height}, size_px * 0.45f, {28, 31, 38, 190});
  TextStyle style;
  style.size_px = size_px;
  style.colour = {255, 255, 255, 255};
  drawText(canvas, Vec2f(x + pad, y + height / 2 + 0.35f * size_px), text, style);
}

}  // namespace derm
