#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "derm/math/sparse_ldl.h"
#include "derm/volume/volume_methods.h"

#include "volume/volume_fields.h"

/// Private to room volume: the Laplacian method's energy.
namespace derm::detail {

/// Hessian A of the energy over the welded vertices that move (g >= 1e-8): A_ij = d_ij 2/g_i +
/// 2 kappa C_ij <n_i, n_j> with constant C. See VolumeMethod::Laplacian.
class VolumeLaplacian {
 public:
  /// Welded vertices below are fixed: 1/g would swamp the rest.
  static constexpr double kMinGamma = 1e-8;

  struct Scratch {
    SparseLdl factor;
    std::vector<double> values;
    std::vector<double> right;
  };

  /// `surface` is that of the fields.
  VolumeLaplacian(std::shared_ptr<const VolumeFields> fields, const MeasuredSurface& surface,
                  LaplacianEnergy energy, double kappa);

  std::size_t freeCount() const { return free_.size(); }
  std::span<const MatrixEntry> entries() const { return entries_; }
  Scratch makeScratch() const;

  /// A's numbers for these normals (per welded vertex), in the order of entries().
  void hessian(std::span<const Vec3d> normals, std::span<double> values) const noexcept;
  /// Factorises A; false where that fails, which only non-finite normals can bring about.
  bool factorise(std::span<const Vec3d> normals, Scratch& scratch) const noexcept;
  /// out_i = (A^-1 K_l)_i per welded vertex, K_il = <n_i, row entry of l>; zero for fixed welded
  /// vertices. `spread` as VolumeFields::spread() gives them.
  void direction(std::uint32_t region, std::span<const Vec3d> normals,
                 std::span<const Vec3d> spread, Scratch& scratch,
                 std::span<double> out) const noexcept;
  /// All regions at once, where no welded vertex takes part in two: `field` goes in spread and
  /// comes out as the fields (A^-1 K)_i n_i, apexes with their border's mean.
  void field(std::span<const Vec3d> normals, Scratch& scratch,
             std::span<Vec3d> field) const noexcept;

 private:
  void buildCouplings(const MeasuredSurface& surface, LaplacianEnergy energy, double kappa);

  std::shared_ptr<const VolumeFields> fields_;
  std::vector<std::uint32_t> free_;        ///< welded vertices that move
  std::vector<std::uint32_t> free_index_;  ///< per welded vertex; kNone where fixed
  std::vector<MatrixEntry> entries_;       ///< of free indices
  std::vector<double> couplings_;          ///< 2 kappa C_ij
  std::vector<double> springs_;            ///< d_ij 2/g_i
  SparseLdl pattern_;
};

}  // namespace derm::detail
