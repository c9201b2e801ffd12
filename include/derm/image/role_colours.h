#pragma once

#include "derm/image/rgba8_image.h"

namespace derm {

/// One colour per role, in plots, labels and comparisons alike: grey what linear skinning gives,
/// blue what derm makes of it. In plots the grey one is dashed.
inline constexpr Rgba8 kBeforeColour = {128, 128, 132, 255};
inline constexpr Rgba8 kAfterColour = {28, 76, 190, 255};

}  // namespace derm
