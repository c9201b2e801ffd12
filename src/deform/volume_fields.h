#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "derm/deform/region_volumes.h"
#include "derm/mesh/measured_surface.h"

/// Private to room deform: direction fields of the volume methods.
namespace derm {

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

/// Partial sums over regions: one row per chunk, chunks depend on the number of items only.
class RegionSums {
 public:
  static constexpr std::size_t kMostChunks = 64;

  RegionSums(std::size_t items, std::size_t regions);
  std::size_t chunk() const { return chunk_; }
  /// The row that body(begin, ...) of a parallelFor over the items with chunk() may write to.
  std::span<double> row(std::size_t begin) {
    return std::span(parts_).subspan(begin / chunk_ * regions_, regions_);
  }
  void setZero() { std::fill(parts_.begin(), parts_.end(), 0.0); }
  double total(std::size_t region) const;

 private:
  std::size_t chunk_ = 1;
  std::size_t regions_ = 0;
  std::size_t chunks_ = 0;
  std::vector<double> parts_;
};

/// Fields that move a surface: one vector per entry of the regions' rows (RegionVolumes), so that
/// region l's multiplier moves point i along entry (i, l).
class VolumeFields {
 public:
  VolumeFields(std::shared_ptr<const MeasuredSurface> surface,
               std::shared_ptr<const RegionVolumes> volumes, std::span<const double> gamma);

  const MeasuredSurface& surface() const { return *surface_; }
  const RegionVolumes& volumes() const { return *volumes_; }
  std::span<const double> gamma() const { return gamma_; }  ///< per place
  bool moves(std::size_t point) const { return moves_[point] != 0; }
  RegionSums makeSums() const { return {surface_->pointCount(), volumes_->regionCount()}; }

  /// Gradients as places feel them: `out` is `gradients` with each apex' share given to its border,
  /// in rows that both have.
  void spread(std::span<const Vec3d> gradients, std::span<Vec3d> out) const noexcept;
  /// Area-weighted unit normals of the places; zero where there is no area. On open borders the
  /// mesh's own triangles count alone, not the fans that close them. `spread` as above.
  void normals(std::span<const Vec3d> points, std::span<const Vec3d> spread,
               std::span<Vec3d> out) const noexcept;

  /// In place: spread gradients become fields g v or g (v.n) n; apexes get their border's mean.
  void alongGradient(std::span<Vec3d> field) const noexcept;
  void alongNormal(std::span<const Vec3d> normals, std::span<Vec3d> field) const noexcept;

  /// Gives apexes the mean of their border's fields.
  void meanOverBorders(std::span<Vec3d> field) const noexcept;

  /// matrix(k, l) = sum over points of <gradient of V_k, field of l>.
  void matrix(std::span<const Vec3d> gradients, std::span<const Vec3d> field, RegionSums& sums,
              RegionMatrix& out) const noexcept;
  /// The same for the fields' components along one axis.
  void axisMatrix(int axis, std::span<const Vec3d> gradients, std::span<const Vec3d> field,
                  RegionSums& sums, RegionMatrix& out) const noexcept;
  /// out_k = <gradient of V_k, displacement>.
  void change(std::span<const Vec3d> gradients, std::span<const Vec3d> displacement,
              RegionSums& sums, std::span<double> out) const noexcept;
  /// displacement_i = sum over l of multipliers_l field(i, l), apexes completed.
  void combine(std::span<const double> multipliers, std::span<const Vec3d> field,
               std::span<Vec3d> displacement) const noexcept;
  /// Adds the same along one axis.
  void addAlongAxis(int axis, std::span<const double> multipliers, std::span<const Vec3d> field,
                    std::span<Vec3d> displacement) const noexcept;

 private:
  template <class Product>
  void matrixOf(const Product& product, RegionSums& sums, RegionMatrix& out) const noexcept;
  void buildBorderTriangles();

  std::shared_ptr<const MeasuredSurface> surface_;
  std::shared_ptr<const RegionVolumes> volumes_;
  std::vector<double> gamma_;
  std::vector<std::uint8_t> moves_;           ///< per point
  std::vector<std::uint32_t> shared_points_;  ///< in rows of several regions
  std::vector<std::uint32_t> border_places_;
  IndexLists border_triangles_;  ///< own triangles around each border place
};

/// Solves matrix x = rhs over the regions marked active, the others get 0. Rows are scaled, pivots
/// sought; a region whose pivot vanishes gets 0. `work` has matrix.size * (matrix.size + 1)
/// entries.
void solveRegions(const RegionMatrix& matrix, std::span<const std::uint8_t> active,
                  std::span<const double> rhs, std::span<double> work,
                  std::span<double> x) noexcept;

}  // namespace derm
