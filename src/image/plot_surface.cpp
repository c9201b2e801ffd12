#include "image/plot_surface.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "derm/base/markup_text.h"
#include "derm/base/number_text.h"

namespace derm::detail {
namespace {

constexpr float kDash_px = 7.0f;
constexpr float kDashGap_px = 5.0f;

std::string number(float value) {
  std::string text = fixedNumber(value, 2);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string hexColour(Rgba8 colour) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "#";
  for (const int v : {int(colour.r), int(colour.g), int(colour.b)}) {
    out += kDigits[v / 16];
    out += kDigits[v % 16];
  }
  return out;
}

std::string opacity(std::string_view attribute, Rgba8 colour) {
  if (colour.a == 255) return {};
  return " " + std::string(attribute) + "=\"" + number(float(colour.a) / 255.0f) + "\"";
}

}  // namespace

SvgSurface::SvgSurface(int width, int height, std::string_view title, std::string prefix)
    : prefix_(std::move(prefix)) {
  const std::string w = std::to_string(width), h = std::to_string(height);
  svg_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h +
         "\" viewBox=\"0 0 " + w + " " + h +
         "\" role=\"img\" font-family=\"Inter, 'Helvetica Neue', Helvetica, Arial, "
         "sans-serif\">\n<title>" +
         markupText(title) + "</title>\n";
}

void SvgSurface::rect(const ClipRect& r, Rgba8 colour) {
  svg_ += "<rect x=\"" + number(r.left) + "\" y=\"" + number(r.top) + "\" width=\"" +
          number(r.right - r.left) + "\" height=\"" + number(r.bottom - r.top) + "\" fill=\"" +
          hexColour(colour) + "\"" + opacity("fill-opacity", colour) + "/>\n";
}

void SvgSurface::line(const Vec2f& from, const Vec2f& to, float width_px, Rgba8 colour) {
  svg_ += "<line x1=\"" + number(from.x()) + "\" y1=\"" + number(from.y()) + "\" x2=\"" +
          number(to.x()) + "\" y2=\"" + number(to.y()) + "\" stroke=\"" + hexColour(colour) +
          "\" stroke-width=\"" + number(width_px) + "\"" + opacity("stroke-opacity", colour) +
          "/>\n";
}

void SvgSurface::curve(std::span<const Vec2f> points, float width_px, Rgba8 colour, bool dashed,
                       const ClipRect& clip) {
  const std::string id = prefix_ + "clip" + std::to_string(clips_++);
  svg_ += "<clipPath id=\"" + id + "\"><rect x=\"" + number(clip.left) + "\" y=\"" +
          number(clip.top) + "\" width=\"" + number(clip.right - clip.left) + "\" height=\"" +
          number(clip.bottom - clip.top) + "\"/></clipPath>\n<polyline clip-path=\"url(#" + id +
          ")\" fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\" stroke=\"" +
          hexColour(colour) + "\" stroke-width=\"" + number(width_px) + "\"" +
          opacity("stroke-opacity", colour);
  if (dashed) svg_ += " stroke-dasharray=\"" + number(kDash_px) + " " + number(kDashGap_px) + "\"";
  svg_ += " points=\"";
  for (std::size_t i = 0; i < points.size(); ++i)
    svg_ += (i ? " " : "") + number(points[i].x()) + "," + number(points[i].y());
  // A single point shows only as a line of no length with a round end.
  if (points.size() == 1) svg_ += " " + number(points[0].x()) + "," + number(points[0].y());
  svg_ += "\"/>\n";
}

void SvgSurface::text(const Vec2f& anchor, std::string_view text, const TextStyle& style) {
  const char* align = style.align == TextAlign::Left    ? "start"
                      : style.align == TextAlign::Right ? "end"
                                                        : "middle";
  svg_ += "<text x=\"" + number(anchor.x()) + "\" y=\"" + number(anchor.y()) + "\" font-size=\"" +
          number(style.size_px) + "\" text-anchor=\"" + align + "\" fill=\"" +
          hexColour(style.colour) + "\"";
  if (style.bold) svg_ += " font-weight=\"600\"";
  if (style.upwards)
    svg_ += " transform=\"rotate(-90 " + number(anchor.x()) + " " + number(anchor.y()) + ")\"";
  svg_ += ">" + markupText(text) + "</text>\n";
}

std::string SvgSurface::finish() && {
  svg_ += "</svg>\n";
  return std::move(svg_);
}

void PixelSurface::rect(const ClipRect& r, Rgba8 colour) { fillRect(image_, r, colour); }

void PixelSurface::line(const Vec2f& from, const Vec2f& to, float width_px, Rgba8 colour) {
  // Straight grid lines as rectangles: sharp where they lie on whole pixels.
  if (from.x() == to.x() || from.y() == to.y()) {
    const float half = width_px / 2;
    const bool upright = from.x() == to.x();
    fillRect(image_,
             {std::min(from.x(), to.x()) - (upright ? half : 0),
              std::min(from.y(), to.y()) - (upright ? 0 : half),
              std::max(from.x(), to.x()) + (upright ? half : 0),
              std::max(from.y(), to.y()) + (upright ? 0 : half)},
             colour);
  } else {
    drawLine(image_, from, to, width_px, colour);
  }
}

void PixelSurface::curve(std::span<const Vec2f> points, float width_px, Rgba8 colour, bool dashed,
                         const ClipRect& clip) {
  if (!dashed) {
    drawPolyline(image_, points, width_px, colour, &clip);
    return;
  }
  constexpr float kPeriod = kDash_px + kDashGap_px;
  std::vector<Vec2f> dash;
  float travelled = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const float length = Vec2f(points[i] - points[i - 1]).norm();
    // Small steps along the curve; the pen is down during the first part of each period.
    const int steps = std::max(1, static_cast<int>(std::ceil(std::min(length, 65536.0f))));
    for (int s = 0; s <= steps; ++s) {
      const float t = float(s) / float(steps);
      if (std::fmod(travelled + t * length, kPeriod) <= kDash_px) {
        dash.push_back(Vec2f(points[i - 1] + t * (points[i] - points[i - 1])));
      } else if (!dash.empty()) {
        drawPolyline(image_, dash, width_px, colour, &clip);
        dash.clear();
      }
    }
    travelled += length;
  }
  if (!dash.empty()) drawPolyline(image_, dash, width_px, colour, &clip);
}

void PixelSurface::text(const Vec2f& anchor, std::string_view text, const TextStyle& style) {
  drawText(image_, anchor, text, style);
}

}  // namespace derm::detail
