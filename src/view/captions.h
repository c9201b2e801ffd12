#pragma once

#include <string>

#include "derm/image/compose.h"

namespace derm::detail {

/// What stands in the lower left corner of a picture: its instant, or what was measured in it.
inline constexpr LabelStyle kCaptionStyle = {.size_px = 15.0f};
inline constexpr Corner kCaptionCorner = Corner::BottomLeft;

/// "0.73 s"
std::string timeCaption(double time_s);
/// "moved by up to 3.6 mm", with about three digits.
std::string moveCaption(double largest_mm);

}  // namespace derm::detail
