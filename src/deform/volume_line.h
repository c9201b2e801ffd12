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
    RegionSums second, third;     ///< sums of c2 and c3
    std::vector<Cubic> own;       ///< per region, of its own triangles
    std::vector<double> still;    ///< per region, volume of shared parts with lambda = 0
    std::vector<double> volumes;  ///< work space
    std::vector<Vec3d> moved;     ///< of the points near borders
    RegionMatrix slopes;          ///< work space
  };

  explicit VolumeLine(std::shared_ptr<const VolumeFields> fields);
  Scratch makeScratch() const;
  /// True where no triangle follows two regions: then each region is its own cubic.
  bool independent() const { return shared_.empty() && walls_.empty(); }

  /// Prepares a frame. `slopes` is VolumeFields::matrix() of the same points and field.
  void begin(std::span<const Vec3d> points, std::span<const Vec3d> feet,
             std::span<const Vec3d> field, const RegionMatrix& slopes,
             Scratch& scratch) const noexcept;
  const Cubic& cubic(std::size_t region, const Scratch& scratch) const {
    return scratch.own[region];
  }
  /// change_k = V_k(lambda) - V_k(0), and slopes(k, l) = dV_k/dlambda_l there.
  void evaluate(std::span<const Vec3d> points, std::span<const Vec3d> feet,
                std::span<const Vec3d> field, std::span<const double> lambda, Scratch& scratch,
                std::span<double> change, RegionMatrix& slopes) const noexcept;

 private:
  struct SharedTriangle {
    Triangle corners{};
    std::uint32_t first_share = 0, share_count = 0;
  };
  void moveShared(std::span<const Vec3d> points, std::span<const Vec3d> field,
                  std::span<const double> lambda, std::span<Vec3d> moved) const noexcept;
  void sumShared(std::span<const Vec3d> feet, std::span<const Vec3d> field,
                 std::span<const Vec3d> moved, std::span<double> volumes,
                 RegionMatrix& slopes) const noexcept;
  void addSlopes(std::uint32_t point, const Vec3d& gradient, std::uint32_t region,
                 std::span<const Vec3d> field, RegionMatrix& slopes) const noexcept;

  std::shared_ptr<const VolumeFields> fields_;
  std::vector<Triangle> own_;             ///< sorted by region
  std::vector<std::uint32_t> own_begin_;  ///< per region, and the end
  std::vector<SharedTriangle> shared_;
  std::vector<RegionVolumes::Share> shares_;
  std::vector<RegionVolumes::Wall> walls_;
  std::vector<std::uint32_t> near_borders_;  ///< points that shared_ and walls_ use
};

}  // namespace derm
