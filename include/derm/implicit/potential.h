#pragma once

#include <cstddef>

#include "derm/implicit/band_grid.h"
#include "derm/math/vec.h"

namespace derm {

/// What a point finds where it meets a skin.
struct ContactSample {
  bool inside = false;
  double depth_m = 0;  ///< [m] below the surface, negative outside; clamped to the band's width
  Vec3d normal = Vec3d::UnitY();  ///< unit, outwards; +Y where the field is flat
};

/// A discrete potential in space: a narrow band of signed distances on a lattice of cubes. Node
/// (i, j, k) stands at origin + voxel_m (i, j, k). Inside is f > 0. Plain data with queries, each
/// O(1); thread-safe for reading.
struct Potential {
  double voxel_m = 0.01;         ///< [m] > 0, side of a lattice cube
  Vec3d origin = Vec3d::Zero();  ///< [m] position of node (0, 0, 0)
  BandGrid grid{2.5f};

  /// f [m] between nodes, trilinear; +-width beyond the band. Not finite or out of range: outside.
  double valueAt(const Vec3d& point) const;
  /// The gradient of that (dimensionless, about 1 in the band, 0 beyond it).
  Vec3d gradientAt(const Vec3d& point) const;
  /// Is this point inside, how deep, which way is out?
  ContactSample contactAt(const Vec3d& point) const;

  Vec3d nodePosition(int x, int y, int z) const { return origin + voxel_m * Vec3d(x, y, z); }
};

}  // namespace derm
