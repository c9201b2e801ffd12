#pragma once

#include <span>
#include <string_view>

#include "derm/image/draw.h"
#include "derm/image/rgba8_image.h"

namespace derm {

/// Pictures beside each other, tops aligned, `gap_px` of background between them. None gives an
/// empty picture.
Rgba8Image sideBySide(std::span<const Rgba8Image> images, int gap_px = 0,
                      Rgba8 background = {255, 255, 255, 255});

/// Pictures in rows of `columns`, cells as large as the largest picture, each centred in its cell.
/// Requires columns >= 1.
Rgba8Image gridOf(std::span<const Rgba8Image> images, int columns, int gap_px = 0,
                  Rgba8 background = {255, 255, 255, 255});

/// Left of the divider `before`, right of it `after`; both of the same size (required).
struct SplitDesc {
  float at = 0.5f;          ///< [0,1] where the divider stands, as a share of the width
  float divider_px = 3.0f;  ///< 0 = none
  Rgba8 divider = {255, 255, 255, 255};
};
Rgba8Image splitView(const Rgba8Image& before, const Rgba8Image& after, const SplitDesc& desc = {});

enum class Corner { TopLeft, TopRight, BottomLeft, BottomRight };

/// A short text on a rounded plate in a corner.
struct LabelStyle {
  float size_px = 18.0f;            ///< [px] em height of the text
  Rgba8 plate = {28, 31, 38, 190};  ///< dark and half-clear
  float inwards_px = 0;             ///< [px] from its corner along the picture's top or bottom
};

/// Where the plate lies in a picture of that size.
ClipRect labelPlate(int width_px, int height_px, std::string_view text, Corner corner,
                    const LabelStyle& style = {});

/// What titles "linear" and "derm" halves.
void drawLabel(Rgba8Image& canvas, std::string_view text, Corner corner,
               const LabelStyle& style = {});

}  // namespace derm
