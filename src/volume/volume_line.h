#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "volume/prism.h"
#include "volume/volume_fields.h"

/// Private to room volume: regions' volumes along fixed direction fields.
namespace derm::detail {

/// How the regions' volumes change when points move by sum over l of lambda_l field(i, l). Where a
/// triangle's corners follow one region alone that is a cubic in one number: its coefficients are
/// summed once per frame. Only triangles near borders between regions are summed anew for each
/// lambda, so a Newton step costs next to nothing. Immutable; see Scratch.
class VolumeLine {
 public:
  using Cubic = detail::LineCubic;
  struct Scratch {
    std::vector<Cubic> runs;      ///< per run
    std::vector<double> parts;    ///< of shared runs: volumes, then slopes by pairs of a set
    std::vector<Cubic> own;       ///< per region, of its own triangles
    std::vector<double> still;    ///< per region, volume of shared parts with lambda = 0
    std::vector<double> volumes;  ///< work space
    std::span<Vec3d> moved;       ///< per point, the caller's: those near borders are used
    RegionMatrix slopes;          ///< of the shared parts, when last renewed
  };

  /// `surface` and `regions` are those of the fields.
  VolumeLine(std::shared_ptr<const VolumeFields> fields, const MeasuredSurface& surface,
             const VolumeRegions& regions);
  Scratch makeScratch() const;
  /// True where no triangle follows two regions: then each region is its own cubic.
  bool independent() const { return shared_.empty(); }

  /// Prepares a frame. `scratch.moved` stays the line's until the last evaluate(). `slopes` is
  /// VolumeFields::matrix() of the same points and field.
  void begin(std::span<const Vec3d> points, std::span<const Vec3d> anchors,
             std::span<const Vec3d> field, const RegionMatrix& slopes,
             Scratch& scratch) const noexcept;
  const Cubic& cubic(std::size_t region, const Scratch& scratch) const {
    return scratch.own[region];
  }
  /// change_k = V_k(lambda) - V_k(0). Slopes dV_k/dlambda_l there too where `renew_slopes`;
  /// otherwise only the part of `slopes` that cubics tell is brought up to date.
  void evaluate(std::span<const Vec3d> points, std::span<const Vec3d> anchors,
                std::span<const Vec3d> field, std::span<const double> lambda, bool renew_slopes,
                Scratch& scratch, std::span<double> change, RegionMatrix& slopes) const noexcept;

 private:
  /// Triangles that follow their region alone, on one anchor.
  struct OwnRun {
    std::uint32_t begin = 0, end = 0, region = 0, anchor = 0;
  };
  /// Triangles that follow several regions but belong to the same set of them.
  struct SharedRun {
    std::uint32_t begin = 0, end = 0;
    std::uint32_t first_of_set = 0, set_size = 0;  ///< in sets_
    std::uint32_t first_weight = 0;                ///< in weights_, set_size per triangle
    std::uint32_t anchor = 0;                      ///< kSeveralAnchors: those of the corners
    std::uint32_t first_part = 0;                  ///< of set_size (1 + regionCount()) numbers
  };
  static constexpr std::uint32_t kSeveralAnchors = 0xFFFFFFFFu;
  struct Builder;

  std::span<const std::uint32_t> setOf(const SharedRun& run) const {
    return std::span(sets_).subspan(run.first_of_set, run.set_size);
  }
  void moveShared(std::span<const Vec3d> points, std::span<const Vec3d> field,
                  std::span<const double> lambda, std::span<Vec3d> moved) const noexcept;
  void sumShared(std::span<const Vec3d> anchors, Scratch& scratch,
                 std::span<double> volumes) const noexcept;
  void sumSlopes(std::span<const Vec3d> anchors, std::span<const Vec3d> field,
                 Scratch& scratch) const noexcept;
  void sumRun(const SharedRun& run, std::span<const Vec3d> anchors, std::span<const Vec3d> x,
              std::span<double> volumes) const noexcept;
  template <std::size_t kSize>
  void addWeighted(std::span<const double> tetrahedra, const float* weights,
                   std::span<double> volumes) const noexcept;
  std::array<Vec3d, 3> anchorsOf(const Triangle& t, std::span<const Vec3d> anchors) const noexcept {
    const std::span<const std::uint32_t> anchor = fields_->rings().anchorsOfPoints();
    return {anchors[anchor[t[0]]], anchors[anchor[t[1]]], anchors[anchor[t[2]]]};
  }

  std::shared_ptr<const VolumeFields> fields_;
  std::vector<Triangle> own_;  ///< by region and anchor
  std::vector<OwnRun> own_runs_;
  std::vector<Triangle> shared_;
  std::vector<SharedRun> shared_runs_;
  std::vector<std::uint32_t> sets_;
  std::vector<float> weights_;  ///< three times a triangle's share in each region of its set
  std::size_t part_count_ = 0;
  std::vector<std::uint32_t> near_borders_;  ///< points that shared_ uses
};

}  // namespace derm::detail
