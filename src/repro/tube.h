#pragma once

#include <functional>
#include <vector>

#include "derm/character/character.h"

/// The cylinders that the documents bend.
namespace derm::detail::repro {

/// A closed cylinder along +z, joints on its axis, each below the one before.
struct TubeDesc {
  int rings = 25, sectors = 25;
  double length_m = 20, radius_m = 1;
  std::vector<double> joints = {0, 10, 20};  ///< [m] along z
};
/// (0,1] of a point for a joint; weights of a point are made to sum to 1.
using TubeWeights = std::function<double(const Vec3d& point, std::size_t joint)>;

Character tube(const TubeDesc& desc, const TubeWeights& weights);
/// A clip that turns joint 1 about +y to each of these angles, a second apart.
Clip bendingClip(const std::vector<double>& degrees);
/// [m] of a pose of the character, linearly skinned, in which joint 1 is turned about +y.
std::vector<Vec3f> bentTube(const Character& tube, double degrees);

}  // namespace derm::detail::repro
