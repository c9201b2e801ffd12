#pragma once

#include <vector>

#include "derm/math/vec.h"

namespace derm::detail::cast {

/// The cage's grid: half columns from the front (0) to the back of the head (20), mirrored, and
/// rows from the rim of the neck (0) to the ring around the crown (22).
inline constexpr int kHalfColumns = 20;
inline constexpr int kGridRows = 22;

/// A column of the grid drawn by hand; those between are interpolated.
struct GuideColumn {
  int column = 0;
  std::vector<Vec3d> points;  ///< [cm] by row, kGridRows + 1 of them
};

const std::vector<GuideColumn>& guideColumns();

}  // namespace derm::detail::cast
