#pragma once

#include <span>
#include <vector>

#include "derm/character/character.h"
#include "derm/deform/layer.h"
#include "derm/deform/refined_vertices.h"
#include "derm/mesh/measured_surface.h"
#include "derm/scene/volume_study.h"
#include "derm/volume/region_volumes.h"
#include "derm/volume/volume_regions.h"

/// Private to room scene: measures posed surfaces region by region.
namespace derm::detail {

class VolumeMeter {
 public:
  /// `surface` is what a stack makes of the character, which must outlive the meter.
  static Result<VolumeMeter> make(const Character& character, const BoundSurface& surface,
                                  const RegionsDesc& desc);

  std::size_t regionCount() const { return regions_.regionCount(); }
  const VolumeRegions& regions() const { return regions_; }
  double restVolume() const { return rest_m3_; }
  double restArea() const { return rest_area_m2_; }
  std::span<const double> restVolumes() const { return region_rest_m3_; }

  /// Goes on to the rest shape with these weights of the character's morphs.
  void takeShape(std::span<const float> morph_weights);
  /// [m^3] of that shape, in the bind pose.
  double shapeVolume() const { return shape_m3_; }
  std::span<const double> shapeVolumes() const { return region_shape_m3_; }

  /// Measures positions (per vertex of the mesh) in a pose given by joint-to-model matrices.
  void measure(std::span<const Vec3f> positions, std::span<const Affine3d> model);
  /// Of the last measure().
  const SurfaceMeasure& whole() const { return whole_; }
  const std::vector<SurfaceMeasure>& parts() const { return parts_; }

 private:
  struct Edge {
    std::uint32_t a, b;
    double rest_m;
    std::uint32_t region;
  };
  VolumeMeter(const Character& character, const BoundSurface& bound, MeasuredSurface surface,
              VolumeRegions regions);
  double wholeVolume() const;

  const Character* character_;
  RefinedVertices morphed_rest_;

  MeasuredSurface surface_;
  VolumeRegions regions_;
  RegionVolumes volumes_;
  std::vector<std::uint32_t> region_of_triangle_;  ///< own ones, by largest share
  std::vector<Edge> edges_;
  double rest_m3_ = 0, rest_area_m2_ = 0, shape_m3_ = 0;
  std::vector<double> region_rest_m3_, region_shape_m3_;
  std::vector<Vec3f> morphed_, morphed_space_;
  std::vector<Vec3d> points_, anchors_;
  SurfaceMeasure whole_;
  std::vector<SurfaceMeasure> parts_;
};

}  // namespace derm::detail
