#pragma once

#include <memory>
#include <span>
#include <vector>

#include "derm/deform/refined_vertices.h"
#include "derm/mesh/measured_surface.h"
#include "derm/volume/region_volumes.h"
#include "derm/volume/volume_regions.h"

/// Private to room volume: what regions measure at rest as layers before skinning shape it.
namespace derm::detail {

class ShapedVolumes {
 public:
  struct Scratch {
    std::vector<Vec3f> positions;
    std::vector<Vec3d> points;
    RegionVolumes::Scratch sums;
    std::vector<double> volumes;
  };

  ShapedVolumes(const TriMesh& character, std::size_t shape_vertices, const BoundSurface& bound,
                const MeasuredSurface& surface, const VolumeRegions& regions)
      : rest_(character, shape_vertices, bound),
        volumes_(surface, regions, RegionTables::Volumes),
        anchors_(regions.bindPositions()) {}

  Scratch makeScratch() const {
    return {std::vector<Vec3f>(rest_.spaceCount()), std::vector<Vec3d>(volumes_.pointCount()),
            volumes_.makeScratch(), std::vector<double>(volumes_.regionCount())};
  }
  /// [m^3] per region, of SkinFrame::shapedRest() with the joints at their bind; valid until the
  /// next call. `surface` is the bound one; its triangles are not read. Allocation-free.
  std::span<const double> measure(const MeasuredSurface& surface, std::span<const Vec3f> shaped,
                                  Scratch& scratch) const noexcept {
    measurePoints(surface, rest_.positions(shaped, scratch.positions), Vec3d::Zero(),
                  scratch.points);
    volumes_.volumes(scratch.points, anchors_, scratch.sums, scratch.volumes);
    return scratch.volumes;
  }

 private:
  RefinedVertices rest_;
  RegionVolumes volumes_;
  std::vector<Vec3d> anchors_;
};

}  // namespace derm::detail
