#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/image/plot.h"
#include "derm/scene/recipe.h"
#include "derm/scene/scene.h"

namespace derm {

/// What a surface, or a part of it, measures in one frame.
struct SurfaceMeasure {
  double volume_m3 = 0;    ///< [m^3] of the closed form (measured_surface.h)
  double area_m2 = 0;      ///< [m^2]
  double min_stretch = 1;  ///< shortest edge against its rest length; 1 where there are no edges
  double max_stretch = 1;
};

struct VolumeChange {
  /// [%] with its sign, against the rest volume of the frame's shape: what joints do to it, not
  /// what morphs do.
  double before_percent = 0;
  double after_percent = 0;
};

/// How the volume of a character fares over a clip, with and without its volume layers. Everything
/// is measured anew from the float positions that come out, region by region as the (last) volume
/// layer divides the surface; without one, as a whole.
struct VolumeStudy {
  struct Region {
    SurfaceMeasure before, after;
    double rest_m3 = 0;    ///< [m^3] at rest, with this frame's morphs
    double target_m3 = 0;  ///< what the layer aimed for; rest_m3 where there is no layer
    bool held = false;     ///< the layer could and did aim for it: counts for the errors below
  };
  struct Frame {
    double time_s = 0;  ///< [s] in the clip
    SurfaceMeasure before, after;
    double rest_m3 = 0;           ///< [m^3] at rest, with this frame's morphs
    double max_move_m = 0;        ///< [m] largest distance between before and after
    std::vector<Region> regions;  ///< as region_names
  };

  std::string character;
  std::string clip;      ///< empty: the rest pose
  std::string skinning;  ///< method of both
  double fps = 0;
  double rest_m3 = 0;       ///< [m^3] without morphs, as region_rest_m3
  double rest_area_m2 = 0;  ///< [m^2] without morphs; stretches are against that shape too
  std::vector<std::string> region_names;
  std::vector<double> region_rest_m3;
  std::vector<Frame> frames;

  /// Largest |V / V_rest - 1| of the whole, before; and of each region, as region_names. V_rest is
  /// the frame's, with its morphs, here and below.
  double max_relative_loss_before = 0;
  std::vector<double> region_loss_before;
  /// Largest |V / target - 1| after, of the regions that are held and of the whole (regions that
  /// are not held count there as they are).
  double max_relative_error_after = 0;
  /// Largest |V / V_rest - 1| after, of regions that are not held: no layer is there, it had
  /// to stop short (max_change), or nothing bends in them but scaled joints change them.
  double max_relative_change_unheld = 0;

  VolumeChange wholeChange(const Frame& frame) const;
  /// The region with the largest loss before; absent without regions.
  std::optional<std::size_t> worstRegionBefore() const;
  /// Of the region that changed most, before and after each on their own.
  VolumeChange worstRegionChange(const Frame& frame) const;
};

/// Plays the recipe twice, without and with its volume layers. Fails as openScene() does; a layer
/// that changes the number of vertices is Unsupported.
Result<VolumeStudy> studyVolume(const Recipe& recipe, const SceneOptions& options,
                                Diagnostics& notes, const Progress& progress = {});

/// A character's recipe with the layer that derm recommends: centre skinning, default volume.
Recipe defaultVolumeRecipe(std::string character);

/// One line of a comparison of methods over the same clip.
struct VolumeComparison {
  std::string name;          ///< "linear", "centre + section"
  double worst_percent = 0;  ///< [%] largest |V / V_rest - 1| of the whole, V_rest with morphs
  double worst_region_percent = 0;  ///< [%] the same of a joint region
  double max_move_m = 0;            ///< [m] that the correction moved a vertex
  double min_stretch = 1, max_stretch = 1;
  double ms_per_frame = 0;  ///< [ms] skinning and correction
};

/// Linear, dual-quaternion and centre skinning, and every correction on what it is made for, with
/// the joint regions of the default recipe. Without a clip the rest pose is compared.
Result<std::vector<VolumeComparison>> compareVolumeMethods(const Recipe& recipe,
                                                           const SceneOptions& options,
                                                           Diagnostics& notes,
                                                           const Progress& progress = {});

/// JSON: character clip fps rest_m3 rest_area_m2 max_relative_error_after …
/// frames[{time_s,rest_m3,before_m3,after_m3,before{area_m2,min_stretch,max_stretch},after{…},
/// regions[{name,rest_m3,before_m3,after_m3,target_m3,…}]}]
std::string toJson(const VolumeStudy& study);
std::string toJson(const std::vector<VolumeComparison>& rows);
/// One line per frame: time, whole before and after, its rest volume, then two columns per region.
std::string toCsv(const VolumeStudy& study);
std::string toCsv(const std::vector<VolumeComparison>& rows);
/// Change of volume over time, in percent: the whole and the worst region, before and after.
PlotDesc plotOf(const VolumeStudy& study);

}  // namespace derm
