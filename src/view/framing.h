#pragma once

#include <span>

#include "derm/image/draw.h"
#include "derm/render/camera.h"
#include "derm/render/offscreen_renderer.h"

namespace derm::detail {

/// What must be left free of a picture so that none of the plates (labels, legends, [px]) lies on
/// the hull of the points: nothing where none does; otherwise, for each plate that would, the band
/// along the side of the picture that leaves the points larger.
PictureInsets roomFor(std::span<const ClipRect> plates, std::span<const Vec3f> points,
                      const OrbitDesc& orbit, const PictureSize& size);

}  // namespace derm::detail
