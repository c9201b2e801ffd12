#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "derm/image/rgba8_image.h"
#include "derm/math/vec.h"

namespace derm {

/// Colour of what is exactly nothing: a neutral grey that the map itself never takes, so that "no
/// influence" and "a little" cannot be mistaken. Linear RGBA.
Vec4f zeroColour();

/// Colour of a share in [0,1] (clamped; not finite counts as 0), linear RGBA: indigo over magenta
/// and orange to pale yellow. Lightness rises evenly in the Oklab space (Ottosson 2020), so equal
/// steps look equal, in grey print and to colour-blind eyes too.
Vec4f mapColour(float share);

/// mapColour() for each value, zeroColour() where it is exactly 0: colours of a weight heat-map.
std::vector<Vec4f> heatColours(std::span<const float> values, float full = 1.0f);

/// A bar with numbers for the map from 0 to `full`, with a separate patch for exact zero, on a
/// half-clear plate; to be laid on a picture. `height_px` is that of the whole, at least 80.
Rgba8Image heatLegend(std::string_view title, float full, int height_px = 240);

}  // namespace derm
