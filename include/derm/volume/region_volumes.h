#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/vec.h"
#include "derm/mesh/tri_mesh.h"
#include "derm/volume/volume_regions.h"

namespace derm {

/// What a RegionVolumes is made for; each does what those before it do.
enum class RegionTables {
  Volumes,    ///< volumes() alone: some 30 bytes per vertex
  Rows,       ///< who takes part in which region: 8 more
  Gradients,  ///< gradients(): 28 more
};

/// Volumes of a closed surface's regions, and their gradients.
///
/// Every vertex has an anchor: the position of a joint near it. A triangle owns the prism between
/// itself and its anchors; prisms of neighbours share a wall, and walls cancel:
///
///     x1 ---- x2        wall of the directed edge (a,b), anchors fa and fb:
///      | \  /  |          h(a,b) = (|b,a,fa| + |b,a,fb| + |b,fa,fb| + |a,fa,fb|) / 12
///      |  x3   |          h(b,a) = -h(a,b)
///     f1 .|.. f2        V_T = |x1,x2,x3|/6 + h(1,2) + h(2,3) + h(3,1) - |f1,f2,f3|/6
///         f3            V_l = sum over triangles of their share in region l times V_T
///
/// So each V_l does not change when surface and joints move rigidly together, any number of regions
/// may meet anywhere, and the sum of all V_l is the volume of the surface, exactly (the hub region
/// of each piece also gets the sum of |f1,f2,f3|/6). No border loop has to be found or closed.
/// On surfaces that are not closed the volumes depend on the position of the origin.
///
/// Immutable; share freely. Sums are in double and the same bits for any number of threads.
/// Cost: one cross product per triangle for volumes, three for gradients; walls are only computed
/// where shares differ (about a tenth of the edges).
class RegionVolumes {
 public:
  struct Share {
    std::uint32_t region = 0;
    double share = 0;
  };

  /// Work space of volumes(); one per thread that calls it.
  struct Scratch {
    std::vector<double> parts;
  };

  /// `regions` belongs to `surface`. Copies what it needs.
  RegionVolumes(const MeasuredSurface& surface, const VolumeRegions& regions,
                RegionTables tables = RegionTables::Gradients);

  std::size_t pointCount() const { return point_count_; }
  std::size_t regionCount() const { return region_count_; }
  Scratch makeScratch() const;

  /// [m^3] per region. `positions` per point (closing vertices included), `anchors` per
  /// entry of VolumeRegions::joints. Allocation-free.
  void volumes(std::span<const Vec3d> positions, std::span<const Vec3d> anchors, Scratch& scratch,
               std::span<double> out) const noexcept;
  /// The same with its own scratch, for bind time.
  std::vector<double> volumes(std::span<const Vec3d> positions,
                              std::span<const Vec3d> anchors) const;

  /// Which regions' volumes each point takes part in: rows of region numbers, ascending. Requires
  /// RegionTables::Rows or more.
  std::span<const std::uint32_t> regionsOf(std::size_t vertex) const {
    return std::span(row_regions_)
        .subspan(row_offsets_[vertex], row_offsets_[vertex + 1] - row_offsets_[vertex]);
  }
  std::uint32_t firstEntry(std::size_t vertex) const { return row_offsets_[vertex]; }
  std::size_t entryCount() const { return row_regions_.size(); }

  /// [m^2] dV_l/dx_i, one entry per (vertex, region) of the rows above: entry firstEntry(i) + k is
  /// the gradient of the k-th region of regionsOf(i). A closing vertex (the middle of a boundary
  /// loop) has rows as any other; MeasuredSurface hands them on to its loop. Requires
  /// RegionTables::Gradients. Allocation-free.
  void gradients(std::span<const Vec3d> positions, std::span<const Vec3d> anchors,
                 std::span<Vec3d> out) const noexcept;

 private:
  /// A triangle that belongs to several regions.
  struct SharedTriangle {
    Triangle corners{};
    std::uint32_t first_share = 0;  ///< in shares_
    std::uint32_t share_count = 0;
    bool three_anchors = false;  ///< its anchors span a triangle of their own
  };
  /// An edge whose two sides belong to regions in different shares.
  struct Wall {
    std::uint32_t a = 0, b = 0;
    std::uint32_t first_share = 0;  ///< in shares_: share of its left minus that of its right side
    std::uint32_t share_count = 0;
  };

  /// Three anchors under one triangle: what lies between them goes to the hub.
  struct AnchorTriangle {
    Triangle anchors{};
    std::uint32_t hub = 0;
    std::uint32_t first_share = 0, share_count = 0;  ///< in shares_, of the triangle
  };

  struct Builder;

  /// Adds what depends on the anchors alone. `out` per region.
  void addAnchorVolumes(std::span<const Vec3d> anchors, const Vec3d& origin,
                        std::span<double> out) const noexcept;

  std::size_t point_count_ = 0;
  std::size_t region_count_ = 0;
  std::vector<Triangle> pure_;  ///< of one region alone, sorted by region from pure_begin_ on
  std::vector<std::uint32_t> pure_begin_;
  std::vector<SharedTriangle> shared_;
  std::vector<Wall> walls_;
  std::vector<Share> shares_;
  std::vector<std::uint32_t> anchor_;
  std::vector<AnchorTriangle> anchor_triangles_;
  std::vector<std::uint32_t> row_offsets_, row_regions_;
  // Vertex to the things around it, for gradients: first pure triangles, then shared, then walls.
  std::vector<std::uint32_t> around_offsets_, around_;
};

/// The wall of a directed edge: see RegionVolumes.
double prismWall(const Vec3d& a, const Vec3d& b, const Vec3d& anchor_a, const Vec3d& anchor_b);
/// Its gradient to a and b.
struct WallGradient {
  Vec3d to_a, to_b;
};
WallGradient prismWallGradient(const Vec3d& a, const Vec3d& b, const Vec3d& anchor_a,
                               const Vec3d& anchor_b);

}  // namespace derm
