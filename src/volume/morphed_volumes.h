#pragma once

#include <memory>
#include <span>
#include <vector>

#include "derm/deform/morphed_rest.h"
#include "derm/mesh/measured_surface.h"
#include "derm/volume/region_volumes.h"
#include "derm/volume/volume_regions.h"

/// Private to room volume: what regions measure at rest when the character's morphs change it.
namespace derm::detail {

class MorphedVolumes {
 public:
  struct Scratch {
    std::vector<Vec3f> positions;
    std::vector<Vec3d> points;
    RegionVolumes::Scratch sums;
    std::vector<double> volumes;
  };

  MorphedVolumes(const TriMesh& character, const BoundSurface& bound,
                 const MeasuredSurface& surface, const VolumeRegions& regions)
      : rest_(character, bound),
        volumes_(surface, regions, RegionTables::Volumes),
        anchors_(regions.bindPositions()) {}

  Scratch makeScratch() const {
    return {std::vector<Vec3f>(rest_.spaceCount()), std::vector<Vec3d>(volumes_.pointCount()),
            volumes_.makeScratch(), std::vector<double>(volumes_.regionCount())};
  }
  /// [m^3] per region, of SkinFrame::morphedRest() with the joints at their bind; valid until the
  /// next call. `surface` is the bound one; its triangles are not read. Allocation-free.
  std::span<const double> measure(const MeasuredSurface& surface, std::span<const Vec3f> morphed,
                                  Scratch& scratch) const noexcept {
    measurePoints(surface, rest_.evaluate(morphed, scratch.positions), Vec3d::Zero(),
                  scratch.points);
    volumes_.volumes(scratch.points, anchors_, scratch.sums, scratch.volumes);
    return scratch.volumes;
  }

 private:
  MorphedRest rest_;
  RegionVolumes volumes_;
  std::vector<Vec3d> anchors_;
};

}  // namespace derm::detail
