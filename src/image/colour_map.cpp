#include "derm/image/colour_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "derm/base/number_text.h"
#include "derm/image/draw.h"

namespace derm {
namespace {

Vec3f linearFromOklab(float lightness, float a, float b) {
  const float l = lightness + 0.3963377774f * a + 0.2158037573f * b;
  const float m = lightness - 0.1055613458f * a - 0.0638541728f * b;
  const float s = lightness - 0.0894841775f * a - 1.2914855480f * b;
  const float l3 = l * l * l, m3 = m * m * m, s3 = s * s * s;
  return Vec3f(4.0767416621f * l3 - 3.3077115913f * m3 + 0.2309699292f * s3,
               -1.2684380046f * l3 + 2.6097574011f * m3 - 0.3413193965f * s3,
               -0.0041960863f * l3 - 0.7034186147f * m3 + 1.7076147010f * s3);
}

/// Full saturation would leave what a screen can show; the most that fits is taken.
Vec3f colourAt(float lightness, float hue_rad, float chroma) {
  const auto at = [&](float c) {
    return linearFromOklab(lightness, c * std::cos(hue_rad), c * std::sin(hue_rad));
  };
  const auto fits = [](const Vec3f& rgb) { return rgb.minCoeff() >= 0 && rgb.maxCoeff() <= 1; };
  if (fits(at(chroma))) return at(chroma);
  float low = 0;
  for (int i = 0; i < 24; ++i) {
    const float middle = 0.5f * (low + chroma);
    (fits(at(middle)) ? low : chroma) = middle;
  }
  return at(low).cwiseMax(0.0f).cwiseMin(1.0f);
}

}  // namespace

Vec4f zeroColour() { return Vec4f(0.27f, 0.28f, 0.30f, 1.0f); }

Vec4f mapColour(float share) {
  const float t = std::isfinite(share) ? std::clamp(share, 0.0f, 1.0f) : 0.0f;
  constexpr std::size_t kSteps = 256;
  static const std::array<Vec4f, kSteps> table = [] {
    std::array<Vec4f, kSteps> out;
    for (std::size_t i = 0; i < kSteps; ++i) {
      const float u = float(i) / float(kSteps - 1);
      const float hue = (275.0f + 190.0f * u) * std::numbers::pi_v<float> / 180.0f;
      const Vec3f rgb = colourAt(0.34f + 0.58f * u, hue, 0.23f);
      out[i] = Vec4f(rgb.x(), rgb.y(), rgb.z(), 1.0f);
    }
    return out;
  }();
  const float at = t * float(kSteps - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, kSteps - 1);
  return Vec4f(table[low] + (table[high] - table[low]) * (at - float(low)));
}

std::vector<Vec4f> heatColours(std::span<const float> values, float full) {
  std::vector<Vec4f> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    out[i] = values[i] == 0.0f || !(full > 0) ? zeroColour() : mapColour(values[i] / full);
  return out;
}

Rgba8Image heatLegend(std::string_view title, float full, int height_px) {
  height_px = std::max(height_px, 80);
  const float size = std::clamp(float(height_px) / 15.0f, 11.0f, 22.0f);
  const float pad = size * 0.8f;
  const float bar_x = pad, bar_w = size * 1.1f;
  const float bar_top = pad + size * 1.5f, zero_h = size * 1.1f;
  const float bar_bottom = float(height_px) - pad - zero_h - size * 0.5f;
  const float text_x = bar_x + bar_w + size * 0.5f;
  float text_w = textWidth("0 (none)", size);
  for (int i = 1; i <= 4; ++i)
    text_w = std::max(text_w, textWidth(shortNumber(full * float(i) / 4.0f), size));
  const float width = std::max(text_x + text_w, pad + textWidth(title, size)) + pad;

  Rgba8Image out(static_cast<int>(std::ceil(width)), height_px, {0, 0, 0, 0});
  fillRoundRect(out, {0, 0, width, float(height_px)}, size * 0.5f, {255, 255, 255, 205});
  TextStyle text;
  text.size_px = size;
  drawText(out, Vec2f(pad, pad + size * 0.7f), title, text);
  for (int y = int(bar_top); y < int(bar_bottom); ++y) {
    const float t = 1.0f - (float(y) + 0.5f - bar_top) / (bar_bottom - bar_top);
    fillRect(out, {bar_x, float(y), bar_x + bar_w, float(y + 1)}, encodedColour(mapColour(t)));
  }
  for (int i = 0; i <= 4; ++i) {
    const float t = float(i) / 4.0f;
    const float y = std::floor(bar_bottom) + (std::floor(bar_top) - std::floor(bar_bottom)) * t;
    fillRect(out, {bar_x + bar_w, y - 0.5f, bar_x + bar_w + size * 0.25f, y + 0.5f}, text.colour);
    if (i > 0) drawText(out, Vec2f(text_x, y + size * 0.35f), shortNumber(full * t), text);
  }
  const float zero_top = float(height_px) - pad - zero_h;
  fillRect(out, {bar_x, zero_top, bar_x + bar_w, zero_top + zero_h}, encodedColour(zeroColour()));
  drawText(out, Vec2f(text_x, zero_top + zero_h / 2 + size * 0.35f), "0 (none)", text);
  return out;
}

}  // namespace derm
