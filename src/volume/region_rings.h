#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/volume/region_volumes.h"

#include "volume/region_sums.h"
#include "volume/ring_kernels.h"

/// Private to room volume: volumes and gradients of all regions in one pass.
namespace derm::detail {

/// A triangle's prism (RegionVolumes) is a tetrahedron where its corners share an anchor f, and
/// dV/dx_i = 1/6 sum of (x_j - f) x (x_k - f) over the edges (j, k) around point i. Around most
/// points these edges form a ring inside one region, on one anchor: it is kept as the run of its
/// points, and each point has a third of the tetrahedra around it. All others are *odd*: where
/// regions or anchors meet, on open borders, and apexes. They keep their corners one by one.
///
/// Entries, one per point and region that it takes part in, are numbered odd points first, in
/// ascending order, then the others run by run. Some 60 bytes per point. Immutable.
class RegionRings {
 public:
  RegionRings(const MeasuredSurface& surface, const VolumeRegions& regions);

  std::size_t pointCount() const { return first_entry_.size(); }
  std::size_t regionCount() const { return region_count_; }
  std::size_t entryCount() const { return regions_.size(); }
  /// Entries of odd points are below this.
  std::size_t oddEntryCount() const { return odd_entry_count_; }
  bool odd(std::size_t point) const { return first_entry_[point] < odd_entry_count_; }
  std::span<const std::uint32_t> oddPoints() const { return odd_points_; }
  /// The regions that a point takes part in, ascending: those of its entries.
  std::span<const std::uint32_t> regionsOf(std::size_t point) const {
    return std::span(regions_).subspan(first_entry_[point], entry_counts_[point]);
  }
  std::uint32_t firstEntry(std::size_t point) const { return first_entry_[point]; }
  const std::uint32_t* firstEntries() const { return first_entry_.data(); }
  std::span<const std::uint32_t> anchorsOfPoints() const { return anchor_; }

  /// Points that are not odd, of one region and one anchor.
  struct Run {
    std::uint32_t begin = 0, end = 0;  ///< in evenPoints(); entries follow oddEntryCount()
    std::uint32_t region = 0, anchor = 0;
    std::uint32_t first_ring = 0;  ///< in the list of rings
  };
  std::span<const Run> runs() const { return runs_; }
  std::span<const std::uint32_t> evenPoints() const { return even_points_; }

  /// Work space of measure().
  struct Sums {
    std::vector<detail::RingSums> runs;
    RegionSums odd;
  };
  Sums makeSums() const;
  /// Volumes per region, and per entry gradients v of odd points or, where there is room for them,
  /// of all; where there is room for a field, gamma v (gamma per welded vertex) of all points but
  /// the odd ones, whose sums of squares stay in `sums`. Allocation-free.
  void measure(std::span<const Vec3d> x, std::span<const Vec3d> anchors,
               std::span<const double> gamma, Sums& sums, std::span<Vec3d> gradients,
               std::span<Vec3d> field, std::span<double> volumes) const noexcept;

 private:
  using Edge = std::array<std::uint32_t, 2>;  ///< across from a corner: left and right
  struct AnchorTriangle {
    Triangle anchors{};
    std::uint32_t hub = 0;
  };
  struct Builder;

  /// An odd point's part: its gradients to `out`, its shares of volumes to `part`.
  void measureOdd(std::size_t n, std::span<const Vec3d> x, std::span<const Vec3d> anchors,
                  std::span<Vec3d> out, std::span<double> part) const noexcept;

  std::size_t region_count_ = 0, odd_entry_count_ = 0;
  std::vector<std::uint32_t> anchor_;  ///< per point
  std::vector<std::uint32_t> first_entry_;
  std::vector<std::uint16_t> entry_counts_;
  std::vector<std::uint32_t> regions_;  ///< per entry
  std::vector<Run> runs_;
  std::vector<std::uint32_t> even_points_;
  std::vector<std::uint8_t> ring_sizes_;  ///< per even point
  std::vector<std::uint32_t> rings_;
  std::vector<std::uint32_t> odd_points_;
  std::vector<std::uint32_t> corner_offsets_;  ///< per odd point
  std::vector<std::uint32_t> wall_offsets_;    ///< where corners with several anchors begin
  std::vector<Edge> corners_;
  /// Per corner and entry of its point: three times the triangle's share in the region. Whole
  /// multiples of 2^-20, which floats hold as they are.
  std::vector<std::uint32_t> weight_offsets_;  ///< per odd point
  std::vector<float> weights_;
  std::vector<AnchorTriangle> anchor_triangles_;
};

}  // namespace derm::detail
