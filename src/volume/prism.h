#pragma once

#include <array>

#include "derm/volume/region_volumes.h"

/// Private to room volume.
namespace derm::detail {

/// The volume of the prism over a triangle whose corners have different anchors (RegionVolumes).
inline double prismVolume(const std::array<Vec3d, 3>& x, const std::array<Vec3d, 3>& anchors) {
  double volume = (x[0].dot(x[1].cross(x[2])) - anchors[0].dot(anchors[1].cross(anchors[2]))) / 6;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t n = (k + 1) % 3;
    volume += prismWall(x[k], x[n], anchors[k], anchors[n]);
  }
  return volume;
}

/// The same with its gradient.
struct Prism {
  double volume = 0;
  std::array<Vec3d, 3> gradient;

  Prism(const std::array<Vec3d, 3>& x, const std::array<Vec3d, 3>& anchors) {
    volume = prismVolume(x, anchors);
    for (std::size_t k = 0; k < 3; ++k) gradient[k] = x[(k + 1) % 3].cross(x[(k + 2) % 3]) / 6;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t n = (k + 1) % 3;
      const WallGradient wall = prismWallGradient(x[k], x[n], anchors[k], anchors[n]);
      gradient[k] += wall.to_a;
      gradient[n] += wall.to_b;
    }
  }
};

}  // namespace derm::detail
