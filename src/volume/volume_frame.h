#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "derm/deform/layer.h"
#include "derm/mesh/measured_surface.h"
#include "derm/volume/section_correction.h"
#include "derm/volume/volume_regions.h"

/// Private to room volume: from a frame of the stack to what volume methods work on, and back.
namespace derm::detail {

/// What is needed of surface, regions and rig during frames.
class VolumeFrameBinding {
 public:
  VolumeFrameBinding(std::shared_ptr<const MeasuredSurface> surface,
                     std::shared_ptr<const VolumeRegions> regions, const Skeleton& skeleton,
                     const Skin& skin);

  const MeasuredSurface& surface() const { return *surface_; }
  std::span<const VolumeRegion> regions() const { return regions_->regions; }
  const VolumeRegions& volumeRegions() const { return *regions_; }
  const JointActivities& activities() const { return activities_; }

  /// Goes on with a copy of the regions without what only binding needs.
  void forgetShares();
  /// The same for the surface: methods have their own triangles.
  void forgetTriangles();
  /// How much the pose's matrices make the regions larger; 1 for a rigid pose. Allocation-free.
  void grow(std::span<const Affine3f> palette, std::span<const double> rest_volumes,
            std::span<double> targets) const noexcept;

 private:
  /// How much of a region a slot carries.
  struct Carrier {
    std::uint32_t region = 0, slot = 0;
    double share = 0;
  };

  std::shared_ptr<const MeasuredSurface> surface_;
  std::shared_ptr<const VolumeRegions> regions_;
  JointActivities activities_;
  std::vector<Carrier> carriers_;
};

/// The work space of one character's frames.
class VolumeFrame {
 public:
  /// Methods that read vertices themselves go without points and displacement: 48 bytes each.
  VolumeFrame(const VolumeFrameBinding& binding, bool with_points);

  bool hasPoints() const { return !points_.empty(); }
  const MeasuredSurface& surface() const { return binding_->surface(); }
  const Vec3d& origin() const { return origin_; }

  /// Takes up a frame: points, anchors, activities and targets. All positions are then minus
  /// origin(). `rest_volumes` [m^3] are those of the frame's shape at rest, morphs included.
  void measure(const FrameInput& in, std::span<const Vec3f> positions,
               std::span<const double> rest_volumes) noexcept;
  /// Values per vertex to values per point, minus the origin.
  void toPoints(std::span<const Vec3f> positions, std::span<Vec3d> points) const noexcept;
  /// Adds the displacement to a frame's positions.
  void apply(SkinFrame& skin) const noexcept;
  std::uint32_t vertexOf(std::uint32_t point) const noexcept;

  std::span<const Vec3d> points() const { return points_; }
  std::span<Vec3d> points() { return points_; }
  std::span<const Vec3d> anchors() const { return anchors_; }
  std::span<const double> activities() const { return activities_; }
  std::span<const double> targets() const { return targets_; }
  std::span<double> targets() { return targets_; }
  /// The targets as measure() set them: rest volumes, grown with the joints' scale.
  std::span<const double> grownVolumes() const { return grown_; }
  double scale() const { return scale_; }
  std::span<Vec3d> displacement() { return displacement_; }
  std::span<const Vec3d> displacement() const { return displacement_; }

 private:
  const VolumeFrameBinding* binding_;
  Vec3d origin_ = Vec3d::Zero();
  double scale_ = 1;
  std::vector<Vec3d> points_, displacement_, anchors_;
  std::vector<Quatd> rotations_;
  std::vector<double> activities_, grown_, targets_;
};

}  // namespace derm::detail
