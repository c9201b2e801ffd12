#pragma once

#include <span>

#include "derm/image/rgba8_image.h"
#include "derm/render/camera.h"
#include "derm/render/offscreen_renderer.h"

namespace derm::detail {

/// Cells of equal size in rows that fill a picture, without the gaps between them.
struct StripLayout {
  int columns = 1;
  PictureSize cell;
};

/// Of all numbers of columns the one with the largest figures: `points` seen by that camera.
/// Requires count >= 1.
StripLayout stripLayout(std::size_t count, const PictureSize& whole, std::span<const Vec3f> points,
                        const OrbitDesc& orbit);

/// The cells as one picture of exactly that size: columns rarely divide the width, so a pixel or
/// two may stay white at the rim.
Rgba8Image stripOf(std::span<const Rgba8Image> cells, const StripLayout& layout,
                   const PictureSize& whole);

}  // namespace derm::detail
