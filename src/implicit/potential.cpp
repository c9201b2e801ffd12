#include "derm/implicit/potential.h"

#include <cmath>
#include <optional>

namespace derm {
namespace {

/// The eight node values around a point and where between them it is.
struct CellSample {
  float corner[2][2][2];  // [z][y][x]
  double x = 0, y = 0, z = 0;
};

std::optional<CellSample> cellAround(const Potential& potential, const Vec3d& point) {
  const Vec3d p = (point - potential.origin) / potential.voxel_m;
  constexpr double kFarthest = 8.0 * BlockCoord::kLimit - 16;
  if (!p.allFinite() || !(p.cwiseAbs().maxCoeff() < kFarthest)) return std::nullopt;
  const int ix = static_cast<int>(std::floor(p.x())), iy = static_cast<int>(std::floor(p.y())),
            iz = static_cast<int>(std::floor(p.z()));
  CellSample cell{{}, p.x() - ix, p.y() - iy, p.z() - iz};
  const BandGrid& grid = potential.grid;
  const std::uint32_t slot = grid.slotAt({ix >> 3, iy >> 3, iz >> 3});
  const int lx = ix & 7, ly = iy & 7, lz = iz & 7;
  for (int dz = 0; dz < 2; ++dz)
    for (int dy = 0; dy < 2; ++dy)
      for (int dx = 0; dx < 2; ++dx) {
        const int x = lx + dx, y = ly + dy, z = lz + dz;
        // An absent block does not know its neighbours.
        const std::uint32_t s = grid.isLive(slot)
                                    ? grid.neighbour(slot, x >> 3, y >> 3, z >> 3)
                                    : grid.slotAt({(ix + dx) >> 3, (iy + dy) >> 3, (iz + dz) >> 3});
        cell.corner[dz][dy][dx] = grid.values(s)[(z & 7) * 64 + (y & 7) * 8 + (x & 7)];
      }
  return cell;
}

double lerp(double a, double b, double t) { return a + (b - a) * t; }

double interpolated(const CellSample& c) {
  const auto row = [&](int z, int y) { return lerp(c.corner[z][y][0], c.corner[z][y][1], c.x); };
  return lerp(lerp(row(0, 0), row(0, 1), c.y), lerp(row(1, 0), row(1, 1), c.y), c.z);
}

Vec3d slopeOf(const CellSample& c) {
  const auto along_x = [&](int z, int y) { return double{c.corner[z][y][1]} - c.corner[z][y][0]; };
  const auto row = [&](int z, int y) { return lerp(c.corner[z][y][0], c.corner[z][y][1], c.x); };
  return {
      lerp(lerp(along_x(0, 0), along_x(0, 1), c.y), lerp(along_x(1, 0), along_x(1, 1), c.y), c.z),
      lerp(row(0, 1) - row(0, 0), row(1, 1) - row(1, 0), c.z),
      lerp(row(1, 0), row(1, 1), c.y) - lerp(row(0, 0), row(0, 1), c.y)};
}

}  // namespace

double Potential::valueAt(const Vec3d& point) const {
  const std::optional<CellSample> cell = cellAround(*this, point);
  return voxel_m * (cell ? interpolated(*cell) : -double{grid.width()});
}

Vec3d Potential::gradientAt(const Vec3d& point) const {
  const std::optional<CellSample> cell = cellAround(*this, point);
  return cell ? slopeOf(*cell) : Vec3d(Vec3d::Zero());
}

ContactSample Potential::contactAt(const Vec3d& point) const {
  ContactSample sample;
  const std::optional<CellSample> cell = cellAround(*this, point);
  if (!cell) {
    sample.depth_m = -voxel_m * grid.width();
    return sample;
  }
  sample.depth_m = voxel_m * interpolated(*cell);
  sample.inside = sample.depth_m > 0;
  const Vec3d slope = slopeOf(*cell);
  if (const double length = slope.norm(); length > 1e-12) sample.normal = -slope / length;
  return sample;
}

}  // namespace derm
