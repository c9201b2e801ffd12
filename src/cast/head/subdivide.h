#pragma once

#include "cast/head/head_cage.h"

namespace derm::detail::cast {

/// A head's skin as quads.
struct QuadSkin {
  std::vector<Vec3d> positions;  ///< [cm]
  std::vector<SkinLabels> labels;
  std::vector<std::uint32_t> mirror;
  std::vector<Quad> quads;
  std::vector<SkinPart> parts;
};

/// One step of Catmull and Clark 1978, open rims by the boundary rule. Vertices of the cage come
/// first and keep their numbers. Labels are interpolated linearly instead: rings stay whole numbers
/// and vertices of both lips and lids stay pairs. Child quads begin at the cage's vertex, so that
/// cutting them from corner 0 to 2 is symmetric.
QuadSkin subdivided(const HeadCage& cage);

}  // namespace derm::detail::cast
