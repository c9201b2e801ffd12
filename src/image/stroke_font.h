#pragma once

#include <string_view>
#include <vector>

#include "derm/math/vec.h"

namespace derm::detail {

/// Units of the font: 20 to the em; base line 0, small letters 10, capitals 14, descenders -4.
inline constexpr float kFontUnitsPerEm = 20.0f;

struct Glyph {
  float advance = 0;                        ///< [font units]
  std::vector<std::vector<Vec2f>> strokes;  ///< [font units] y up
};

/// The glyph of a code point; a small box for those the font lacks.
const Glyph& strokeGlyph(char32_t code);

/// Takes one code point off the front. A byte that is no UTF-8 gives U+FFFD and is skipped alone.
char32_t takeCodePoint(std::string_view& text);

}  // namespace derm::detail
