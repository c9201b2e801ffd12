#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "deform/volume_fields.h"

/// Private to room deform: regions' volumes along fixed direction fields.
namespace derm {

/// How the regions' volumes change when points move by sum over l of lambda_l field(i, l). Where a
/// triangle's corners follow one region alone that is a cubic in one number: its coefficients are
/// summed once per frame. Only triangles and walls near borders between regions are summed anew for
/// each lambda, so a Newton step costs next to nothing. Immutable; see Scratch.
class VolumeLine {
 public:
  struct Cubic {
    double c1 = 0, c2 = 0, c3 = 0;
  };
  struct Scratch {
    std::vector<Cubic> runs;      ///< per run its c2 and c3
    RegionSums shared;            ///< of volumes, then of slopes by pairs
    std::vector<Cubic> own;       ///< per region, of its own triangles
    std::vector<double> still;    ///< per region, volume of shared parts with lambda = 0
    std::vector<double> volumes;  ///< work space
    std::span<Vec3d> moved;       ///< per point, the caller's: those near borders are used
    RegionMatrix slopes;          ///< of the shared parts, when last renewed
  };

  explicit VolumeLine(std::shared_ptr<const VolumeFields> fields);
  Scratch makeScratch() const;
  /// True where no triangle follows two regions: then each region is its own cubic.
  bool independent() const { return shared_.empty() && walls_.empty(); }

  /// Prepares a frame. `scratch.moved` stays the line's until the last evaluate(). `slopes` is
  /// VolumeFields::matrix() of the same points and field.
  void begin(std::span<const Vec3d> points, std::span<const Vec3d> feet,
             std::span<const Vec3d> field, const RegionMatrix& slopes,
             Scratch& scratch) const noexcept;
  const Cubic& cubic(std::size_t region, const Scratch& scratch) const {
    return scratch.own[region];
  }
  /// change_k = V_k(lambda) - V_k(0). Slopes dV_k/dlambda_l there too where `renew_slopes`;
  /// otherwise only the part of `slopes` that cubics tell is brought up to date.
  void evaluate(std::span<const Vec3d> points, std::span<const Vec3d> feet,
                std::span<const Vec3d> field, std::span<const double> lambda, bool renew_slopes,
                Scratch& scratch, std::span<double> change, RegionMatrix& slopes) const noexcept;

 private:
  /// Neighbours in RegionVolumes::pureTriangles() that follow their region alone.
  struct Run {
    std::uint32_t begin = 0, end = 0, region = 0;
  };
  struct SharedTriangle {
    Triangle corners{};
    std::uint32_t first_share = 0, share_count = 0;
  };
  void moveShared(std::span<const Vec3d> points, std::span<const Vec3d> field,
                  std::span<const double> lambda, std::span<Vec3d> moved) const noexcept;
  void sumShared(std::span<const Vec3d> feet, std::span<const Vec3d> field, bool with_slopes,
                 Scratch& scratch, std::span<double> volumes) const noexcept;
  void addSlopes(std::uint32_t point, const Vec3d& gradient, std::uint32_t region,
                 std::span<const Vec3d> field, std::span<double> pairs) const noexcept;

  std::shared_ptr<const VolumeFields> fields_;
  std::vector<Run> own_;  ///< by region
  std::vector<SharedTriangle> shared_;
  std::vector<RegionVolumes::Share> shares_;
  std::vector<RegionVolumes::Wall> walls_;
  std::vector<std::uint32_t> near_borders_;  ///< points that shared_ and walls_ use
};

}  // namespace derm
