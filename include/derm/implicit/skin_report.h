#pragma once

#include <vector>

#include "derm/implicit/active_skin.h"

namespace derm {

/// One line of a skin's report.
struct SkinRecord {
  double time_s = 0;
  int euler_number = 0;
  std::size_t components = 0;  ///< closed surfaces
  int cavities = 0;            ///< hollows inside bodies, of four cubic voxels or more
  double volume = 0;           ///< [m^3] of the polygons
  double wanted_volume = 0;    ///< [m^3] what is held; 0 where nothing is
  double area = 0;             ///< [m^2]
  double residual_mean = 0;    ///< [m] distance from the target
  double residual_max = 0;     ///< [m]
  std::size_t active_nodes = 0;
};

/// The numbers of a skin as it is now and its polygons. O(surface).
SkinRecord recorded(const ActiveSkin& skin, const TriMesh& mesh, const SkinStep& last);

/// [0,1] How much of a target's surface is further from the skin than this many of the skin's
/// voxels, at most its band's width: what a skin has not reached, which its own distance from the
/// target does not tell. By the vertices of the target's polygons. O(surface).
double unreachedShare(const Potential& skin, const Potential& target, double voxels);

}  // namespace derm
