#pragma once

#include <span>

#include "derm/character/character.h"
#include "derm/image/rgba8_image.h"
#include "derm/render/camera.h"

namespace derm::detail {

/// Dots with names on a drawn picture, where the character's labelled points are on the skin as it
/// is posed: those of the side that faces the camera. Requires a position (and a normal, or no
/// normals) for at least every vertex of the character.
void drawPointLabels(Rgba8Image& picture, const Character& character,
                     std::span<const Vec3f> positions, std::span<const Vec3f> normals,
                     const Camera& camera, const Vec3d& to_eye);

}  // namespace derm::detail
