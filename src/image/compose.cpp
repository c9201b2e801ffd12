#include "derm/image/compose.h"

#include <algorithm>
#include <cmath>

#include "derm/base/assert.h"
#include "derm/image/draw.h"

namespace derm {
namespace {

constexpr float kLabelPad = 0.55f;  ///< left and right of a label's text, over its size

}  // namespace

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

ClipRect labelPlate(int width_px, int height_px, std::string_view text, Corner corner,
                    const LabelStyle& style) {
  const float margin = style.size_px * 0.8f;
  const float width = textWidth(text, style.size_px) + 2 * kLabelPad * style.size_px;
  const float height = style.size_px * 1.7f;
  const bool left = corner == Corner::TopLeft || corner == Corner::BottomLeft;
  const bool top = corner == Corner::TopLeft || corner == Corner::TopRight;
  const float aside = margin + style.inwards_px;
  const float x = left ? aside : float(width_px) - aside - width;
  const float y = top ? margin : float(height_px) - margin - height;
  return {x, y, x + width, y + height};
}

void drawLabel(Rgba8Image& canvas, std::string_view text, Corner corner, const LabelStyle& style) {
  const ClipRect plate = labelPlate(canvas.width, canvas.height, text, corner, style);
  fillRoundRect(canvas, plate, style.size_px * 0.45f, style.plate);
  TextStyle words;
  words.size_px = style.size_px;
  words.colour = {255, 255, 255, 255};
  drawText(canvas,
           Vec2f(plate.left + kLabelPad * style.size_px,
                 0.5f * (plate.top + plate.bottom) + 0.35f * style.size_px),
           text, words);
}

}  // namespace derm
