#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/base/parallel.h"
#include "derm/deform/region_volumes.h"

#include "deform/region_sums.h"

/// Private to room deform: volumes and gradients of all regions in one pass.
namespace derm {

/// dV/dx_i = 1/6 sum of x_j x x_k over the edges (j, k) around point i. Around most points these
/// edges form a ring inside one region: it is kept as the run of its points, so that each is read
/// once, and a region's volume is a third of the sum of <dV/dx_i, x_i> (determinants are
/// homogeneous of degree three). Points where regions meet keep their corners and walls one by one.
/// Some 60 bytes per point. Immutable.
class RegionRings {
 public:
  RegionRings(const MeasuredSurface& surface, const RegionVolumes& volumes);

  /// Points whose surroundings lie in one region: they have one entry.
  bool plain(std::size_t point) const { return region_[point] != kMixed; }
  std::uint32_t regionOf(std::size_t plain_point) const { return region_[plain_point]; }

  /// Gradients per entry, volumes per region, of points and feet near the origin. `visit(point,
  /// sums)` is called for each plain point when its entry is there; `sums` are the columns that
  /// `scratch` has beyond the regions', of the point's chunk. Allocation-free.
  template <class Visit>
  void evaluate(std::span<const Vec3d> points, std::span<const Vec3d> feet, RegionSums& scratch,
                std::span<Vec3d> gradients, std::span<double> volumes,
                const Visit& visit) const noexcept {
    scratch.setZero();
    parallelFor(points.size(), scratch.chunk(), [&](std::size_t begin, std::size_t end) {
      const std::span<double> part = scratch.row(begin);
      const std::span<double> rest = part.subspan(region_count_);
      for (std::size_t i = begin; i < end; ++i) {
        if (region_[i] == kMixed) {
          mixed(i, points, feet, gradients, part);
          continue;
        }
        const Vec3d around = ring(i, points);
        gradients[volumes_->firstEntry(i)] = around / 6;
        part[region_[i]] += around.dot(points[i]);
        visit(i, rest);
      }
    });
    finish(feet, scratch, volumes);
  }

 private:
  static constexpr std::uint32_t kMixed = 0xFFFFFFFFu;
  static constexpr std::uint32_t kBegins = 0x80000000u;  ///< marks the first point of a run

  struct Corner {
    std::uint32_t left = 0, right = 0;  ///< the edge across
    std::uint32_t first_share = 0, share_count = 0;
  };
  struct Side {
    std::uint32_t other = 0;
    bool first_end = true;  ///< this point is the wall's a
    std::uint32_t first_share = 0, share_count = 0;
  };
  struct Builder;

  Vec3d ring(std::size_t point, std::span<const Vec3d> x) const noexcept {
    double sx = 0, sy = 0, sz = 0, px = 0, py = 0, pz = 0;
    for (std::uint32_t n = ring_offsets_[point]; n < ring_offsets_[point + 1]; ++n) {
      const std::uint32_t entry = ring_[n];
      const Vec3d& c = x[entry & ~kBegins];
      const double cx = c.x(), cy = c.y(), cz = c.z();
      if ((entry & kBegins) == 0) {
        sx += py * cz - pz * cy;
        sy += pz * cx - px * cz;
        sz += px * cy - py * cx;
      }
      px = cx;
      py = cy;
      pz = cz;
    }
    return {sx, sy, sz};
  }
  void mixed(std::size_t point, std::span<const Vec3d> x, std::span<const Vec3d> feet,
             std::span<Vec3d> gradients, std::span<double> part) const noexcept;
  void finish(std::span<const Vec3d> feet, const RegionSums& sums,
              std::span<double> volumes) const noexcept;

  const RegionVolumes* volumes_;
  std::size_t region_count_ = 0;
  std::vector<std::uint32_t> region_;  ///< per point
  std::vector<std::uint32_t> ring_offsets_, ring_;
  std::vector<std::uint32_t> corner_offsets_, side_offsets_;
  std::vector<Corner> corners_;
  std::vector<Side> sides_;
  std::vector<RegionVolumes::Share> shares_;
};

}  // namespace derm
