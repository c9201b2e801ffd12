#include "image/stroke_font.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>

#include "derm/base/number_text.h"

namespace derm::detail {
namespace {

/// `width` is that of the ink without stroke thickness. Paths: "m x y" starts a stroke, "l x y"
/// draws a line, "o cx cy rx ry from to" starts a stroke with an arc [degrees, counter-clockwise
/// positive], "a …" goes on with one.
struct GlyphSource {
  char32_t code;
  float width;
  const char* path;
};

constexpr GlyphSource kGlyphs[] = {
    {U' ', 2.5f, ""},
    {U'A', 11, "m 0 0 l 5.5 14 l 11 0 m 2 5 l 9 5"},
    {U'B', 9,
     "m 0 0 l 0 14 l 5 14 a 5 10.8 3.4 3.2 90 -90 l 0 7.6 m 5 7.6 a 5.2 3.8 3.8 3.8 90 -90 l 0 0"},
    {U'C', 10, "o 6 7 6 7 48 312"},
    {U'D', 10.5f, "m 0 0 l 0 14 l 4.2 14 a 4.2 7 6.3 7 90 -90 l 0 0"},
    {U'E', 8, "m 8 14 l 0 14 l 0 0 l 8 0 m 0 7.4 l 7 7.4"},
    {U'F', 7.6f, "m 7.6 14 l 0 14 l 0 0 m 0 7.2 l 6.6 7.2"},
    {U'G', 11.6f, "o 6 7 6 7 46 270 a 6 5.6 5.6 5.6 270 360 l 11.6 6.6 l 6.8 6.6"},
    {U'H', 10, "m 0 0 l 0 14 m 10 0 l 10 14 m 0 7.4 l 10 7.4"},
    {U'I', 0, "m 0 0 l 0 14"},
    {U'J', 6.4f, "m 6.4 14 l 6.4 3.6 a 3.2 3.6 3.2 3.6 0 -170"},
    {U'K', 9.4f, "m 0 0 l 0 14 m 9 14 l 0 5 m 3.3 8.3 l 9.4 0"},
    {U'L', 7.6f, "m 0 14 l 0 0 l 7.6 0"},
    {U'M', 12, "m 0 0 l 0 14 l 6 3.4 l 12 14 l 12 0"},
    {U'N', 10, "m 0 0 l 0 14 l 10 0 l 10 14"},
    {U'O', 12.4f, "o 6.2 7 6.2 7 0 360"},
    {U'P', 8.8f, "m 0 0 l 0 14 l 5 14 a 5 10.2 3.8 3.8 90 -90 l 0 6.4"},
    {U'Q', 12.4f, "o 6.2 7 6.2 7 0 360 m 7.8 3.6 l 12 -0.6"},
    {U'R', 9, "m 0 0 l 0 14 l 5 14 a 5 10.3 3.8 3.7 90 -90 l 0 6.6 m 4.8 6.6 l 9 0"},
    {U'S', 9, "o 4.5 10.5 4 3.5 28 270 a 4.5 3.5 4.4 3.5 90 -155"},
    {U'T', 10, "m 0 14 l 10 14 m 5 14 l 5 0"},
    {U'U', 10, "m 0 14 l 0 5 a 5 5 5 5 180 360 l 10 14"},
    {U'V', 10.6f, "m 0 14 l 5.3 0 l 10.6 14"},
    {U'W', 15.6f, "m 0 14 l 3.9 0 l 7.8 13.4 l 11.7 0 l 15.6 14"},
    {U'X', 10, "m 0 14 l 10 0 m 10 14 l 0 0"},
    {U'Y', 10, "m 0 14 l 5 6.6 l 10 14 m 5 6.6 l 5 0"},
    {U'Z', 9.4f, "m 0 14 l 9.2 14 l 0 0 l 9.4 0"},
    {U'a', 8.4f, "m 8.4 10 l 8.4 0 o 4.2 5 4.2 5 0 360"},
    {U'b', 8.4f, "m 0 14 l 0 0 o 4.2 5 4.2 5 0 360"},
    {U'c', 7.6f, "o 4.4 5 4.4 5 46 314"},
    {U'd', 8.4f, "m 8.4 14 l 8.4 0 o 4.2 5 4.2 5 0 360"},
    {U'e', 8.8f, "m 0.1 5 l 8.8 5 a 4.4 5 4.4 5 0 318"},
    {U'f', 5, "m 1.8 0 l 1.8 11 a 4.8 11 3 3 180 85 m 0 9.6 l 4.6 9.6"},
    {U'g', 8.4f, "o 4.2 5 4.2 5 0 360 m 8.4 10 l 8.4 -0.4 a 4.2 -0.4 4.2 3.6 0 -150"},
    {U'h', 8, "m 0 14 l 0 0 m 0 6 a 4 6 4 4 180 0 l 8 0"},
    {U'i', 0, "m 0 10 l 0 0 m 0 13.5 l 0 13.9"},
    {U'j', 3, "m 3 10 l 3 -1 a 0.4 -1 2.6 3 0 -95 m 3 13.5 l 3 13.9"},
    {U'k', 7.6f, "m 0 14 l 0 0 m 7 10 l 0 3.4 m 2.6 5.9 l 7.6 0"},
    {U'l', 2, "m 0 14 l 0 2.4 a 2 2.4 2 2.4 180 270"},
    {U'm', 13.2f,
     "m 0 10 l 0 0 m 0 6.7 a 3.3 6.7 3.3 3.3 180 0 l 6.6 0 m 6.6 6.7 a 9.9 6.7 3.3 3.3 180 0 l "
     "13.2 0"},
    {U'n', 8, "m 0 10 l 0 0 m 0 6 a 4 6 4 4 180 0 l 8 0"},
    {U'o', 9.2f, "o 4.6 5 4.6 5 0 360"},
    {U'p', 8.4f, "m 0 10 l 0 -4 o 4.2 5 4.2 5 0 360"},
    {U'q', 8.4f, "m 8.4 10 l 8.4 -4 o 4.2 5 4.2 5 0 360"},
    {U'r', 4.6f, "m 0 10 l 0 0 m 0 5.8 a 4.2 5.8 4.2 4.2 180 80"},
    {U's', 7, "o 3.5 7.5 3.1 2.5 30 270 a 3.5 2.5 3.4 2.5 90 -150"},
    {U't', 5, "m 1.8 13 l 1.8 3 a 4.8 3 3 3 180 275 m 0 9.6 l 4.8 9.6"},
    {U'u', 8, "m 0 10 l 0 4 a 4 4 4 4 180 360 m 8 10 l 8 0"},
    {U'v', 8, "m 0 10 l 4 0 l 8 10"},
    {U'w', 12.4f, "m 0 10 l 3.1 0 l 6.2 9.4 l 9.3 0 l 12.4 10"},
    {U'x', 7.6f, "m 0 10 l 7.6 0 m 7.6 10 l 0 0"},
    {U'y', 8.2f, "m 0 10 l 4.2 0.4 m 8.2 10 l 3.6 -2.2 a 1.2 -1.6 2.4 2.4 -15 -100"},
    {U'z', 7.4f, "m 0 10 l 7.2 10 l 0 0 l 7.4 0"},
    {U'0', 9, "o 4.5 7 4.4 7 0 360"},
    {U'1', 9, "m 1.8 11 l 5.2 14 l 5.2 0"},
    {U'2', 9, "o 4.5 9.9 4.1 4.1 165 -32 l 0.4 0 l 8.8 0"},
    {U'3', 9, "o 4.3 10.5 3.7 3.5 152 -90 l 3.2 7 m 4.3 7 a 4.4 3.5 4.3 3.5 90 -155"},
    {U'4', 9, "m 6.8 0 l 6.8 14 l 0 4 l 9.2 4"},
    {U'5', 9, "m 8 14 l 1.6 14 l 1 7.6 a 4.4 4.6 4.3 4.6 138 -148"},
    {U'6', 9, "o 4.5 4.4 4.3 4.4 0 360 m 6.2 14 l 0.9 6.6"},
    {U'7', 9, "m 0.2 14 l 8.8 14 l 3.2 0"},
    {U'8', 9, "o 4.5 10.6 3.5 3.4 0 360 o 4.5 3.6 4.2 3.6 0 360"},
    {U'9', 9, "o 4.5 9.6 4.3 4.4 0 360 m 2.8 0 l 8.1 7.4"},
    {U'.', 0, "m 0 0 l 0 0.4"},
    {U',', 1, "m 1 0.4 l 0 -2.6"},
    {U':', 0, "m 0 0 l 0 0.4 m 0 8 l 0 8.4"},
    {U';', 1, "m 1 0.4 l 0 -2.6 m 0.8 8 l 0.8 8.4"},
    {U'!', 0, "m 0 14 l 0 4.4 m 0 0 l 0 0.4"},
    {U'?', 7.6f, "o 3.8 10.4 3.8 3.6 165 -50 l 3.8 5.8 l 3.8 4.2 m 3.8 0 l 3.8 0.4"},
    {U'\'', 0, "m 0 14 l 0 10.4"},
    {U'"', 3, "m 0 14 l 0 10.4 m 3 14 l 3 10.4"},
    {U'`', 2, "m 0 14 l 2 11.6"},
    {U'(', 3.4f, "o 10 5.5 10 11 140 220"},
    {U')', 3.4f, "o -6.6 5.5 10 11 40 -40"},
    {U'[', 3, "m 3 15 l 0 15 l 0 -3 l 3 -3"},
    {U']', 3, "m 0 15 l 3 15 l 3 -3 l 0 -3"},
    {U'{', 4,
     "m 4 15 a 4 13 2 2 90 180 l 2 8 a 0 8 2 2 0 -90 m 0 6 a 0 4 2 2 90 0 l 2 -1 a 4 -1 2 2 180 "
     "270"},
    {U'}', 4,
     "m 0 15 a 0 13 2 2 90 0 l 2 8 a 4 8 2 2 180 270 m 4 6 a 4 4 2 2 90 180 l 2 -1 a 0 -1 2 2 0 "
     "-90"},
    {U'<', 8, "m 8 11 l 0 6.5 l 8 2"},
    {U'>', 8, "m 0 11 l 8 6.5 l 0 2"},
    {U'/', 6, "m 0 -2 l 6 15"},
    {U'\\', 6, "m 0 15 l 6 -2"},
    {U'|', 0, "m 0 15 l 0 -3"},
    {U'+', 9, "m 0 6.5 l 9 6.5 m 4.5 2 l 4.5 11"},
    {U'-', 5.4f, "m 0 5.4 l 5.4 5.4"},
    {U'*', 6, "m 3 14 l 3 8 m 0.4 12.5 l 5.6 9.5 m 5.6 12.5 l 0.4 9.5"},
    {U'=', 9, "m 0 8.4 l 9 8.4 m 0 4.6 l 9 4.6"},
    {U'_', 9, "m 0 -2.4 l 9 -2.4"},
    {U'%', 13, "o 2.8 11 2.8 3 0 360 o 10.2 3 2.8 3 0 360 m 10.4 14 l 2.6 0"},
    {U'#', 10, "m 3.4 14 l 1.6 0 m 8.4 14 l 6.6 0 m 0.6 9.4 l 10 9.4 m 0 4.8 l 9.4 4.8"},
    {U'&', 11,
     "m 11 0 l 2.6 9.2 a 4.6 11.3 2.7 2.7 220 -40 l 1.2 5.8 a 4 3.6 4 3.6 145 320 l 10.6 6.6"},
    {U'@', 14, "o 7 6 3 3.6 0 360 m 10 9.6 l 10 4.4 a 12 4.4 2 2 180 360 a 7 6 7 8 0 300"},
    {U'$', 9, "o 4.5 10 4 3 28 270 a 4.5 4 4.4 3 90 -155 m 4.5 15.4 l 4.5 -1.4"},
    {U'^', 7, "m 0 8.6 l 3.5 14 l 7 8.6"},
    {U'~', 9, "o 2.3 6 2.3 1.6 180 0 a 6.8 6.4 2.2 1.6 180 360"},
    {U'\u00B0', 4.4f, "o 2.2 11.8 2.2 2.2 0 360"},
    {U'\u00B2', 4.8f, "o 2.4 12 2.2 2 165 -30 l 0.2 7 l 4.8 7"},
    {U'\u00B3', 4.8f, "o 2.3 12.3 2 1.7 152 -90 m 2.3 10.6 a 2.4 8.8 2.3 1.8 90 -155"},
    {U'\u00B5', 8, "m 0 10 l 0 -4 m 0 4 a 4 4 4 4 180 360 m 8 10 l 8 0"},
    {U'\u00B7', 0, "m 0 6 l 0 6.4"},
    {U'\u00D7', 7, "m 0 3 l 7 10 m 7 3 l 0 10"},
    {U'\u2013', 9, "m 0 5.4 l 9 5.4"},
    {U'\u207B', 4.4f, "m 0 10.8 l 4.4 10.8"},
};

void addArc(std::vector<Vec2f>& stroke, const std::array<float, 6>& arc) {
  constexpr float kRadians = std::numbers::pi_v<float> / 180.0f;
  const int steps = std::max(2, static_cast<int>(std::ceil(std::abs(arc[5] - arc[4]) / 15.0f)));
  for (int i = 0; i <= steps; ++i) {
    const float angle = (arc[4] + (arc[5] - arc[4]) * float(i) / float(steps)) * kRadians;
    stroke.push_back(Vec2f(arc[0] + arc[2] * std::cos(angle), arc[1] + arc[3] * std::sin(angle)));
  }
}

Glyph parseGlyph(const GlyphSource& source) {
  constexpr float kGap = 3.4f;  // between the inks of neighbours
  Glyph glyph;
  glyph.advance = source.width + kGap;
  const std::string_view path = source.path;
  const char* at = path.data();
  const char* const end = at + path.size();
  const auto number = [&at, end] {
    while (at != end && *at == ' ') ++at;
    float value = 0;
    at += readNumber({at, static_cast<std::size_t>(end - at)}, value).length;
    return value;
  };
  while (at != end) {
    const char command = *at++;
    if (command == ' ') continue;
    if (command == 'm' || command == 'o') glyph.strokes.emplace_back();
    if (command == 'm' || command == 'l') {
      const float x = number();
      glyph.strokes.back().push_back(Vec2f(x, number()));
    } else {
      std::array<float, 6> arc{};
      for (float& value : arc) value = number();
      addArc(glyph.strokes.back(), arc);
    }
  }
  // Half the gap on each side, so that a text starts and ends evenly.
  for (auto& stroke : glyph.strokes)
    for (Vec2f& p : stroke) p.x() += kGap / 2;
  return glyph;
}

constexpr GlyphSource kMissing = {U'\uFFFD', 7, "m 0 0 l 0 12 l 7 12 l 7 0 l 0 0"};

}  // namespace

const Glyph& strokeGlyph(char32_t code) {
  static const std::map<char32_t, Glyph> glyphs = [] {
    std::map<char32_t, Glyph> out;
    for (const GlyphSource& source : kGlyphs) out.emplace(source.code, parseGlyph(source));
    return out;
  }();
  static const Glyph missing = parseGlyph(kMissing);
  const auto found = glyphs.find(code);
  return found == glyphs.end() ? missing : found->second;
}

char32_t takeCodePoint(std::string_view& text) {
  constexpr char32_t kReplacement = U'\uFFFD';
  const auto first = static_cast<std::uint8_t>(text.front());
  std::size_t more = 0;
  char32_t code = first;
  if (first >= 0xF0 && first < 0xF8) {
    more = 3;
    code = first & 0x07u;
  } else if (first >= 0xE0) {
    more = 2;
    code = first & 0x0Fu;
  } else if (first >= 0xC0) {
    more = 1;
    code = first & 0x1Fu;
  } else if (first >= 0x80) {
    more = text.size();  // a stray continuation byte
  }
  if (first >= 0xF8 || more >= text.size()) {
    text.remove_prefix(1);
    return kReplacement;
  }
  for (std::size_t i = 1; i <= more; ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if ((byte & 0xC0u) != 0x80u) {
      text.remove_prefix(1);
      return kReplacement;
    }
    code = (code << 6) | (byte & 0x3Fu);
  }
  text.remove_prefix(more + 1);
  return code;
}

}  // namespace derm::detail
