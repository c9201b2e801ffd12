#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "derm/volume/volume_methods.h"

#include "volume/volume_fields.h"
#include "volume/volume_laplacian.h"
#include "volume/volume_line.h"

/// Private to room volume: how VolumeMethodBinding::solve() finds its multipliers.
namespace derm::detail {

struct VolumeMethodParts {
  VolumeMethodDesc desc;
  std::shared_ptr<const VolumeFields> fields;
  std::optional<VolumeLine> line;            ///< where a fixed direction is followed
  std::optional<VolumeLaplacian> laplacian;  ///< for that method
  std::vector<double> rest_volumes;
  std::vector<std::uint8_t> usable;  ///< per region: has a volume and something to move
};

struct VolumeMethodBuffers {
  explicit VolumeMethodBuffers(const VolumeMethodParts& parts);

  VolumeFields::Sums sums;
  RegionMatrix matrix;
  std::vector<double> work, volumes, wanted, residual, lambda, step, change;
  std::vector<std::uint8_t> active, axis_active;
  std::vector<Vec3d> gradients;     ///< per entry, or per odd entry
  std::vector<Vec3d> field;         ///< per entry
  std::vector<Vec3d> normals;       ///< per welded vertex, where they have to be kept
  std::vector<Vec3d> moved, trial;  ///< per point
  std::optional<VolumeLine::Scratch> line;
  std::optional<VolumeLaplacian::Scratch> laplacian;
  std::vector<double> dense;          ///< Laplacian, touching regions: per region and welded vertex
  std::vector<RegionMatrix> by_axis;  ///< axes
  std::vector<double> axis_shares, axis_lambda;  ///< axes: per axis and region
  int iterations = 0;
};

/// One call of solve(). Holds references only.
class VolumeSolver {
 public:
  VolumeSolver(const VolumeMethodParts& parts, VolumeMethodBuffers& buffers,
               std::span<const Vec3d> points, std::span<const Vec3d> anchors,
               std::span<const double> rest_volumes, std::span<Vec3d> displacement,
               std::span<RegionOutcome> outcomes)
      : p_(parts),
        b_(buffers),
        x_(points),
        anchors_(anchors),
        rest_volumes_(rest_volumes),
        u_(displacement),
        outcomes_(outcomes) {}

  void run(std::span<const double> targets) noexcept;

 private:
  /// Volumes wanted of each region; false where there is nothing to do.
  bool prepare(std::span<const double> targets) noexcept;
  void moveNowhere() noexcept;
  void keepNear() noexcept;

  // Directions, from the gradients in b_.gradients.
  void beginDirections() noexcept;
  void makeField() noexcept;
  bool dense() const { return p_.laplacian.has_value() && !p_.fields->independent(); }
  /// Normals of the skinned surface are kept, and fields made along them later on.
  bool keepsNormals() const { return !b_.normals.empty(); }
  /// Gradients, volumes and, where directions follow from the gradients alone, most of the field.
  void measure(std::span<const Vec3d> points) noexcept;
  void makeMatrix() noexcept;
  void combine(std::span<const double> lambda, std::span<Vec3d> out) noexcept;
  void makeDense() noexcept;

  void solveAxes(bool one_by_one) noexcept;
  void axisShares() noexcept;
  void sweepAxes(bool one_by_one) noexcept;

  void solveLinearised() noexcept;
  void solveLine() noexcept;
  void solveLineNewton() noexcept;
  void solveFull(bool renew_field) noexcept;
  /// Newton from where u_ leads, b_.gradients and b_.field belonging to that.
  void followFull(bool renew_field) noexcept;
  void addTrial(double part) noexcept;
  bool solveMinimiser() noexcept;

  // Where u_ is moved step by step it holds positions in the meantime.
  void beginPositions() noexcept;
  void endPositions() noexcept;
  /// Largest error of a region relative to its rest volume; fills b_.residual.
  double residual(std::span<const double> volumes) noexcept;
  void reportShort() noexcept;

  const VolumeMethodParts& p_;
  VolumeMethodBuffers& b_;
  std::span<const Vec3d> x_, anchors_;
  std::span<const double> rest_volumes_;  ///< of this frame's shape
  std::span<Vec3d> u_;
  std::span<RegionOutcome> outcomes_;
};

}  // namespace derm::detail
