#pragma once

#include "cast/head/design.h"

namespace derm::detail::cast {

/// What hair shows at a point of the bare head.
struct HairCover {
  double scalp = 0;    ///< [0,1] roots shine through the skin
  double strands = 0;  ///< [0,1] strands lie over it; ragged at the edge
};
HairCover hairCover(const HeadDesign& design, const Vec3d& p);

/// How far hair lifts the surface there. [cm] It begins behind the painted edge, so that the edge
/// is drawn by strands and not by a step.
Vec3d hairOffset(const HeadDesign& design, const Vec3d& p);

}  // namespace derm::detail::cast
