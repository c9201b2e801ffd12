#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/base/result.h"
#include "derm/mesh/measured_surface.h"
#include "derm/mesh/tri_mesh.h"
#include "derm/volume/region_volumes.h"
#include "derm/volume/volume_regions.h"

namespace derm {

/// A muscle that bulges as a joint bends: the group's volume grows by a stated amount.
struct SwellDesc {
  std::string group = {};  ///< vertex group; strengths say where most
  std::string joint = {};  ///< whose bending drives it
  double from_deg = 0;     ///< [deg] angle of the joint's local rotation from rest where it begins
  double to_deg = 120;     ///< [deg] where it is complete; not equal to from_deg
  double percent = 10;     ///< [%] of the group's rest volume; > -100

  bool operator==(const SwellDesc&) const = default;
};

/// Driven volumes: what the targets of regions are in a pose, and a first move that puts the volume
/// where the muscle is, so that the correction of the regions has only rounding left to do there.
///
/// **Method (own).** A group's rest volume is that of the prisms between its triangles and their
/// anchors (region_volumes.h), times the triangles' strengths. The drive rises linearly from
/// from_deg to to_deg. The surface moves along strength times normal, and the way along it is the
/// root of the volume's cubic, as for the exact methods; each region's target grows by its own part
/// of that. Several swells act one after the other. Cost: two passes over the group's triangles
/// each.
///
/// Immutable; share freely.
class VolumeSwell {
 public:
  struct Scratch {
    std::vector<Vec3d> directions;  ///< as many as the largest group has points around it
  };

  /// `regions` belongs to `surface`, `mesh` is the one measured. Fails on a group or joint that
  /// does not exist (naming the nearest), a group without volume, angles that are equal or not
  /// finite, a percentage that leaves no volume.
  static Result<VolumeSwell> bind(std::shared_ptr<const MeasuredSurface> surface,
                                  const VolumeRegions& regions, const TriMesh& mesh,
                                  const Skeleton& skeleton, std::span<const SwellDesc> swells);

  bool empty() const { return muscles_.empty(); }
  std::size_t size() const { return muscles_.size(); }
  Scratch makeScratch() const;

  /// [m^3] how much each swell adds in this pose.
  double growth(std::size_t swell, std::span<const Transform> local) const noexcept;
  /// [m^3] of a group at rest.
  double groupVolume(std::size_t swell) const { return muscles_[swell].rest_m3; }

  /// Adds what the pose's swells add to the regions' targets, and moves the points (apexes too).
  /// `targets` per region. Allocation-free.
  void apply(std::span<const Transform> local, Scratch& scratch, std::span<Vec3d> points,
             std::span<double> targets) const noexcept;

 private:
  struct Muscle {
    SwellDesc desc;
    JointId joint;
    Quatd rest_rotation = Quatd::Identity();
    double rest_m3 = 0;
    std::vector<double> strengths;             ///< (0,1] of the points that move
    std::vector<std::uint32_t> around;         ///< those points first, then their neighbours
    std::vector<Triangle> triangles;           ///< that change; corners are numbers in `around`
    std::vector<RegionVolumes::Share> shares;  ///< of the growth, by region; sum 1

    void build(const MeasuredSurface& surface, const VolumeRegions& regions,
               std::span<const double> strength, std::span<const Vec3d> rest,
               std::span<const Vec3d> anchors);
  };
  void move(const Muscle& muscle, double growth, Scratch& scratch,
            std::span<Vec3d> points) const noexcept;

  std::vector<Muscle> muscles_;
  std::shared_ptr<const MeasuredSurface> surface_;
};

}  // namespace derm
