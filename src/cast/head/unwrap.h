#pragma once

#include "cast/head/head_skin.h"

namespace derm::detail::cast {

/// The skin with texture coordinates: vertices on a seam appear once per side.
struct UnwrappedSkin {
  std::vector<std::uint32_t> vertex_of;  ///< of the HeadSkin, per texture vertex
  std::vector<Vec2d> uvs;                ///< [0,1], v upwards
  std::vector<Triangle> triangles;       ///< of texture vertices, in the skin's order
};

/// One island for face, scalp and neck, cut along the back of the head; discs for both ears, the
/// mouth's bag and the sockets. Inside an island: mean value coordinates (Floater 2003) with fixed
/// borders. Rings of eyes and mouth are placed by rule: solved for, they fold at the corners.
UnwrappedSkin unwrapped(const HeadSkin& skin, const HeadDesign& design);

}  // namespace derm::detail::cast
