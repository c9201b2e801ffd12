#include "derm/image/draw.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "image/stroke_font.h"

namespace derm {
namespace {

/// Pixels a drawing can touch, already cut to the canvas. [first, last)
struct PixelBox {
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;
  int y1 = 0;
  bool empty() const { return x0 >= x1 || y0 >= y1; }
};

ClipRect wholeCanvas(const Rgba8Image& canvas) {
  return {0, 0, float(canvas.width), float(canvas.height)};
}

PixelBox pixelBox(const ClipRect& rect, const Rgba8Image& canvas) {
  // Clamped while still float: huge coordinates must not overflow the conversion.
  const auto cut = [](float v, int max) {
    return static_cast<int>(std::clamp(v, 0.0f, static_cast<float>(max)));
  };
  return {cut(std::floor(rect.left), canvas.width), cut(std::floor(rect.top), canvas.height),
          cut(std::ceil(rect.right), canvas.width), cut(std::ceil(rect.bottom), canvas.height)};
}

bool finite(const Vec2f& p) { return std::isfinite(p.x()) && std::isfinite(p.y()); }

float distanceToSegment(const Vec2f& p, const Vec2f& a, const Vec2f& b) {
  const Vec2f along = b - a;
  const float length2 = along.squaredNorm();
  const float t = length2 > 0 ? std::clamp(Vec2f(p - a).dot(along) / length2, 0.0f, 1.0f) : 0.0f;
  return Vec2f(p - (a + t * along)).norm();
}

/// How much of a pixel is inside a stroke whose middle line is `distance` away. Strokes thinner
/// than a pixel keep the width of one and get fainter instead, else they would break up.
float strokeCoverage(float distance, float width_px) {
  const float drawn = std::max(width_px, 1.0f);
  const float strength = std::min(width_px, 1.0f);
  return strength * std::clamp(0.5f * drawn + 0.5f - distance, 0.0f, 1.0f);
}

/// Strokes gathered as coverage first: where two meet, the larger counts, so that joints and
/// crossings do not show through half-clear colours.
class CoverageMask {
 public:
  CoverageMask(const Rgba8Image& canvas, const ClipRect& area) : box_(pixelBox(area, canvas)) {
    if (!box_.empty())
      coverage_.assign(std::size_t(box_.x1 - box_.x0) * std::size_t(box_.y1 - box_.y0), 0.0f);
  }
  bool empty() const { return coverage_.empty(); }

  void addSegment(const Vec2f& a, const Vec2f& b, float width_px) {
    const float reach = 0.5f * std::max(width_px, 1.0f) + 1.0f;
    const auto clampX = [&](float v) { return int(std::clamp(v, float(box_.x0), float(box_.x1))); };
    const auto clampY = [&](float v) { return int(std::clamp(v, float(box_.y0), float(box_.y1))); };
    const int x0 = clampX(std::floor(std::min(a.x(), b.x()) - reach));
    const int x1 = clampX(std::ceil(std::max(a.x(), b.x()) + reach));
    const int y0 = clampY(std::floor(std::min(a.y(), b.y()) - reach));
    const int y1 = clampY(std::ceil(std::max(a.y(), b.y()) + reach));
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) {
        const float d = distanceToSegment(Vec2f(float(x) + 0.5f, float(y) + 0.5f), a, b);
        float& c = coverage_[index(x, y)];
        c = std::max(c, strokeCoverage(d, width_px));
      }
  }

  void paint(Rgba8Image& canvas, Rgba8 colour) const {
    for (int y = box_.y0; y < box_.y1; ++y)
      for (int x = box_.x0; x < box_.x1; ++x)
        blend(canvas.at(x, y), colour, coverage_[index(x, y)]);
  }

 private:
  std::size_t index(int x, int y) const {
    return std::size_t(y - box_.y0) * std::size_t(box_.x1 - box_.x0) + std::size_t(x - box_.x0);
  }
  PixelBox box_;
  std::vector<float> coverage_;
};

ClipRect strokeArea(std::span<const Vec2f> points, float width_px) {
  const float reach = 0.5f * std::max(width_px, 1.0f) + 1.0f;
  ClipRect area{points[0].x(), points[0].y(), points[0].x(), points[0].y()};
  for (const Vec2f& p : points)
    area = {std::min(area.left, p.x()), std::min(area.top, p.y()), std::max(area.right, p.x()),
            std::max(area.bottom, p.y())};
  return {area.left - reach, area.top - reach, area.right + reach, area.bottom + reach};
}

ClipRect intersection(const ClipRect& a, const ClipRect& b) {
  return {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
          std::min(a.bottom, b.bottom)};
}

}  // namespace

void drawPolyline(Rgba8Image& canvas, std::span<const Vec2f> points, float width_px, Rgba8 colour,
                  const ClipRect* clip) {
  if (points.empty() || !(width_px > 0) || !std::isfinite(width_px)) return;
  if (!std::all_of(points.begin(), points.end(), finite)) return;
  const ClipRect area =
      intersection(strokeArea(points, width_px), clip ? *clip : wholeCanvas(canvas));
  CoverageMask mask(canvas, area);
  if (mask.empty()) return;
  if (points.size() == 1) mask.addSegment(points[0], points[0], width_px);
  for (std::size_t i = 1; i < points.size(); ++i)
    mask.addSegment(points[i - 1], points[i], width_px);
  mask.paint(canvas, colour);
}

void drawLine(Rgba8Image& canvas, const Vec2f& from, const Vec2f& to, float width_px,
              Rgba8 colour) {
  const Vec2f points[] = {from, to};
  drawPolyline(canvas, points, width_px, colour);
}

void fillRect(Rgba8Image& canvas, const ClipRect& rect, Rgba8 colour) {
  const PixelBox box = pixelBox(rect, canvas);
  for (int y = box.y0; y < box.y1; ++y)
    for (int x = box.x0; x < box.x1; ++x) {
      const float w = std::min(rect.right, float(x + 1)) - std::max(rect.left, float(x));
      const float h = std::min(rect.bottom, float(y + 1)) - std::max(rect.top, float(y));
      blend(canvas.at(x, y), colour, std::max(w, 0.0f) * std::max(h, 0.0f));
    }
}

void fillRoundRect(Rgba8Image& canvas, const ClipRect& rect, float radius_px, Rgba8 colour) {
  const Vec2f centre(0.5f * (rect.left + rect.right), 0.5f * (rect.top + rect.bottom));
  const Vec2f half(0.5f * (rect.right - rect.left), 0.5f * (rect.bottom - rect.top));
  if (!finite(centre) || !finite(half)) return;
  const float radius = std::clamp(radius_px, 0.0f, std::max(0.0f, half.minCoeff()));
  const PixelBox box = pixelBox(rect, canvas);
  for (int y = box.y0; y < box.y1; ++y)
    for (int x = box.x0; x < box.x1; ++x) {
      const Vec2f from_centre(std::abs(float(x) + 0.5f - centre.x()),
                              std::abs(float(y) + 0.5f - centre.y()));
      const Vec2f corner = from_centre - half + Vec2f::Constant(radius);
      const float outside =
          Vec2f(corner.cwiseMax(0.0f)).norm() + std::min(0.0f, corner.maxCoeff()) - radius;
      blend(canvas.at(x, y), colour, std::clamp(0.5f - outside, 0.0f, 1.0f));
    }
}

float textWidth(std::string_view text, float size_px) {
  float units = 0;
  while (!text.empty()) units += detail::strokeGlyph(detail::takeCodePoint(text)).advance;
  return units * size_px / detail::kFontUnitsPerEm;
}

void drawText(Rgba8Image& canvas, const Vec2f& anchor, std::string_view text,
              const TextStyle& style) {
  if (!(style.size_px > 0) || !finite(anchor)) return;
  const float scale = style.size_px / detail::kFontUnitsPerEm;
  const float width = textWidth(text, style.size_px);
  float pen = style.align == TextAlign::Left    ? 0
              : style.align == TextAlign::Right ? -width
                                                : -width / 2;
  // The stroke grows with the letters, but never below what stays dark on screen.
  const float stroke_px =
      std::max(style.size_px * (style.bold ? 0.125f : 0.082f), style.bold ? 1.5f : 1.0f);
  const auto place = [&](const Vec2f& p) {
    const float along = pen + p.x() * scale, up = p.y() * scale;
    return style.upwards ? Vec2f(anchor.x() - up, anchor.y() - along)
                         : Vec2f(anchor.x() + along, anchor.y() - up);
  };
  std::vector<Vec2f> placed;
  while (!text.empty()) {
    const detail::Glyph& glyph = detail::strokeGlyph(detail::takeCodePoint(text));
    std::vector<std::vector<Vec2f>> strokes = glyph.strokes;
    placed.clear();
    for (auto& stroke : strokes)
      for (Vec2f& p : stroke) placed.push_back(p = place(p));
    if (!placed.empty()) {
      CoverageMask mask(canvas, intersection(strokeArea(placed, stroke_px), wholeCanvas(canvas)));
      if (!mask.empty()) {
        for (const auto& stroke : strokes)
          for (std::size_t i = 1; i < stroke.size(); ++i)
            mask.addSegment(stroke[i - 1], stroke[i], stroke_px);
        mask.paint(canvas, style.colour);
      }
    }
    pen += glyph.advance * scale;
  }
}

}  // namespace derm
