#pragma once

#include <array>

#include "cast/head/face_pose.h"
#include "cast/head/head_clay.h"

namespace derm::detail::cast {

/// A small surface beside the skin. [cm]
struct HeadPiece {
  std::vector<Vec3d> positions;
  std::vector<Vec2d> uvs;  ///< v upwards; empty = no texture
  std::vector<Triangle> triangles;
};

/// A sphere whose rows are close at the pupil.
HeadPiece eyeball(const HeadDesign& design, int side);
/// A ribbon with spikes on the upper lid's margin. `skin` are the skin's positions, posed or not;
/// `lift` how much lashes point upwards (-1 down to 1).
HeadPiece lashes(const HeadSkin& head, const HeadDesign& design, const std::vector<Vec3d>& skin,
                 int side, double lift);
struct MouthPieces {
  HeadPiece upper_teeth, lower_teeth, upper_gum, lower_gum, tongue;
};
MouthPieces mouthPieces(const HeadDesign& design, const HeadClay& clay);

}  // namespace derm::detail::cast
