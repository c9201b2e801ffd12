#pragma once

#include <cmath>
#include <cstdint>

#include "derm/math/vec.h"

namespace derm::detail::cast {

/// Smooth noise in [0,1]: random values at whole coordinates, blended between. Whole numbers only,
/// so that it is the same everywhere.
inline double valueNoise(const Vec3d& p, std::uint32_t seed) {
  const auto lattice = [seed](std::int64_t x, std::int64_t y, std::int64_t z) {
    auto n = static_cast<std::uint32_t>(x) * 374761393u +
             static_cast<std::uint32_t>(y) * 668265263u +
             static_cast<std::uint32_t>(z) * 2147483647u + seed * 1274126177u;
    n = (n ^ (n >> 13)) * 1274126177u;
    n ^= n >> 16;
    return static_cast<double>(n & 0xffffu) / 65535.0;
  };
  const double fx = std::floor(p.x()), fy = std::floor(p.y()), fz = std::floor(p.z());
  const auto x = static_cast<std::int64_t>(fx), y = static_cast<std::int64_t>(fy),
             z = static_cast<std::int64_t>(fz);
  const auto soft = [](double t) { return t * t * (3 - 2 * t); };
  const double u = soft(p.x() - fx), v = soft(p.y() - fy), w = soft(p.z() - fz);
  const auto along = [&](std::int64_t iy, std::int64_t iz) {
    return lattice(x, iy, iz) * (1 - u) + lattice(x + 1, iy, iz) * u;
  };
  return (along(y, z) * (1 - v) + along(y + 1, z) * v) * (1 - w) +
         (along(y, z + 1) * (1 - v) + along(y + 1, z + 1) * v) * w;
}

/// The same about 0: [-0.5,0.5].
inline double centredNoise(const Vec3d& p, std::uint32_t seed) { return valueNoise(p, seed) - 0.5; }

}  // namespace derm::detail::cast
