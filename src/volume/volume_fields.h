#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/measured_surface.h"
#include "derm/volume/region_volumes.h"

#include "volume/region_rings.h"
#include "volume/region_sums.h"

/// Private to room volume: direction fields of the volume methods.
namespace derm::detail {

/// A square matrix of regions, row by row.
struct RegionMatrix {
  std::size_t size = 0;
  std::vector<double> entries;

  explicit RegionMatrix(std::size_t n = 0) : size(n), entries(n * n, 0.0) {}
  double& operator()(std::size_t row, std::size_t column) { return entries[row * size + column]; }
  double operator()(std::size_t row, std::size_t column) const {
    return entries[row * size + column];
  }
  void setZero() { std::fill(entries.begin(), entries.end(), 0.0); }
};

/// Fields that move a surface: one vector per entry (RegionRings), so that region l's multiplier
/// moves point i along entry (i, l).
class VolumeFields {
 public:
  VolumeFields(const MeasuredSurface& surface, const VolumeRegions& regions,
               std::span<const double> gamma);

  /// How many welded vertices there are, and the borders; nothing else of a surface is kept.
  const MeasuredSurface& surface() const { return surface_; }
  const RegionRings& rings() const { return rings_; }
  /// No point takes part in two regions.
  bool independent() const { return independent_; }
  std::span<const double> gamma() const { return gamma_; }  ///< per welded vertex
  bool moves(std::size_t point) const { return moves_[point] != 0; }
  /// Regions that meet at some point: pair(k, l) numbers them, k and l in one row.
  std::uint32_t pair(std::uint32_t k, std::uint32_t l) const {
    return pair_of_[k * rings_.regionCount() + l];
  }

  bool meet(std::uint32_t k, std::uint32_t l) const { return pair(k, l) != kApart; }

  /// Work space of the sums below.
  struct Sums {
    RegionRings::Sums rings;
    RegionSums points;  ///< per region; for fields that are not measured
    RegionSums odd;     ///< per pair and axis
  };
  Sums makeSums() const;

  /// RegionRings::measure(): volumes and gradients at the points, and g v as the field of all
  /// points but the odd ones, whose fields the functions below make. The field's squares against
  /// the gradients stay in `sums` for measuredMatrix() and measuredAxisMatrices(). `gradients` may
  /// have room for odd entries alone, `field` none.
  void measure(std::span<const Vec3d> points, std::span<const Vec3d> anchors, Sums& sums,
               std::span<Vec3d> gradients, std::span<Vec3d> field,
               std::span<double> volumes) const noexcept {
    rings_.measure(points, anchors, gamma_, sums.rings, gradients, field, volumes);
  }

  /// Gradients as welded vertices feel them: `out` is `gradients` with each apex' share given to
  /// its border, in rows that both have.
  void spread(std::span<const Vec3d> gradients, std::span<Vec3d> out) const noexcept;
  /// Area-weighted unit normals of the welded vertices; zero where there is no area. On open
  /// borders the mesh's own triangles count alone, not the fans that close them. `spread` as above.
  void normals(std::span<const Vec3d> points, std::span<const Vec3d> spread,
               std::span<Vec3d> out) const noexcept;

  /// After measure(): the odd points' fields along g v.
  void oddAlongGradient(std::span<const Vec3d> gradients, std::span<Vec3d> field) const noexcept;
  /// After measure(): the odd points' fields along g (v.n) n. Elsewhere v is parallel to n.
  void oddAlongNormal(std::span<const Vec3d> points, std::span<const Vec3d> gradients,
                      std::span<Vec3d> field) const noexcept;
  /// All points' fields along given normals (per welded vertex); `field` goes in spread.
  void alongNormal(std::span<const Vec3d> normals, std::span<Vec3d> field) const noexcept;
  /// Gives apexes the mean of their border's fields.
  void meanOverBorders(std::span<Vec3d> field) const noexcept;

  /// After measure(): matrix(k, l) = sum over points of <gradient of V_k, field of l>.
  void measuredMatrix(std::span<const Vec3d> gradients, std::span<const Vec3d> field, Sums& sums,
                      RegionMatrix& out) const noexcept;
  /// After measure(): the same for each axis alone.
  void measuredAxisMatrices(std::span<const Vec3d> gradients, std::span<const Vec3d> field,
                            Sums& sums, std::span<RegionMatrix> out) const noexcept;
  /// For any field.
  void matrix(std::span<const Vec3d> gradients, std::span<const Vec3d> field, Sums& sums,
              RegionMatrix& out) const noexcept;
  /// out_k = <gradient of V_k, displacement>.
  void change(std::span<const Vec3d> gradients, std::span<const Vec3d> displacement, Sums& sums,
              std::span<double> out) const noexcept;
  /// displacement_i = sum over l of multipliers_l field(i, l), apexes completed.
  void combine(std::span<const double> multipliers, std::span<const Vec3d> field,
               std::span<Vec3d> displacement) const noexcept;
  /// The same with multipliers by axis and region; `add` = on top of what is there.
  void combineAxes(std::span<const double> multipliers, std::span<const Vec3d> field, bool add,
                   std::span<Vec3d> displacement) const noexcept;

 private:
  static constexpr std::uint32_t kApart = 0xFFFFFFFFu;

  /// On several threads.
  template <class Body>
  void eachOddWelded(const Body& body) const noexcept;
  /// even(region, points, entry of the first) for runs of points, odd(point) for the others.
  template <class Even, class Odd>
  void eachWelded(const Even& even, const Odd& odd) const noexcept;
  /// Numbers one after another, for range-based loops.
  struct Entries {
    struct Iterator {
      std::uint32_t entry;
      std::uint32_t operator*() const { return entry; }
      Iterator& operator++() {
        ++entry;
        return *this;
      }
      bool operator!=(const Iterator& other) const { return entry != other.entry; }
    };
    Iterator first, last;
    Iterator begin() const { return first; }
    Iterator end() const { return last; }
  };
  Entries entriesOf(std::size_t point) const {
    const std::uint32_t first = rings_.firstEntry(point);
    return Entries{{first}, {first + static_cast<std::uint32_t>(rings_.regionsOf(point).size())}};
  }
  /// Products of the odd points' gradients and fields, by axis, to sums.odd.
  void multiplyOdd(std::span<const Vec3d> gradients, std::span<const Vec3d> field,
                   Sums& sums) const noexcept;
  void addOdd(const Sums& sums, std::size_t axis, RegionMatrix& out) const noexcept;
  Vec3d borderNormal(std::size_t border, std::span<const Vec3d> points) const noexcept;
  /// A welded vertex's gradient entries, with what its borders' apexes give it.
  void spreadBorders(std::span<const Vec3d> gradients, std::span<Vec3d> out) const noexcept;
  void buildBorderTriangles(const MeasuredSurface& surface);
  void buildPairs();

  MeasuredSurface surface_;
  std::vector<double> gamma_;
  std::vector<std::uint8_t> moves_;  ///< per point
  RegionRings rings_;
  bool independent_ = true;
  std::size_t pair_count_ = 0;
  std::vector<std::uint32_t> pair_of_;  ///< per two regions
  std::vector<std::uint32_t> border_welded_;
  std::vector<std::uint32_t> border_offsets_ = {0};  ///< per border welded vertex
  std::vector<Triangle> border_triangles_;           ///< the mesh's own around it
};

/// Solves matrix x = rhs over the regions marked active, the others get 0. Rows are scaled, pivots
/// sought; a region whose pivot vanishes gets 0. `work` has matrix.size * (matrix.size + 1)
/// entries.
void solveRegions(const RegionMatrix& matrix, std::span<const std::uint8_t> active,
                  std::span<const double> rhs, std::span<double> work,
                  std::span<double> x) noexcept;

}  // namespace derm::detail
