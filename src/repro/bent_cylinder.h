#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "derm/cast/cylinder.h"
#include "derm/mesh/measured_surface.h"
#include "derm/volume/region_volumes.h"
#include "derm/volume/volume_methods.h"
#include "derm/volume/volume_regions.h"

/// The volume report's cylinder in double, and its corrections.
namespace derm::detail::repro {

/// What a correction came to.
struct CylinderCorrection {
  std::vector<Vec3d> moved;  ///< [m] displacement of each point
  double error_percent = 0;  ///< |V / V₀ − 1| after
  double near_elbow_m = 0;   ///< largest displacement within 2 R of the joint
  double at_ends_m = 0;      ///< largest displacement within R of the ends
  double largest_m = 0;
};

/// γ = (1 − w_max^a)^b; a = 0: 1 everywhere.
struct CylinderMask {
  double a = 0, b = 0;
};

class BentCylinder {
 public:
  /// `welded` false: the report's own mesh of 625, whose poles are 25 vertices at one position.
  explicit BentCylinder(CylinderModel model, bool welded = true);

  const CylinderModel& model() const { return model_; }
  double restVolume() const { return rest_m3_[0]; }
  /// Bent by so much about +y through the middle, with the model's weights.
  std::vector<Vec3d> bent(double degrees) const;
  double lossPercent(double degrees) const;
  CylinderCorrection corrected(double degrees, const VolumeMethodDesc& desc,
                               const CylinderMask& mask = {}) const;
  /// [1/s] how often a frame of it can be corrected.
  double correctionsPerSecond(double degrees, const VolumeMethodDesc& desc) const;

 private:
  std::vector<double> gamma(const CylinderMask& mask) const;

  CylinderModel model_;
  std::shared_ptr<const MeasuredSurface> surface_;
  std::shared_ptr<const VolumeRegions> regions_;
  std::shared_ptr<const RegionVolumes> volumes_;
  std::vector<Vec3d> rest_, anchors_;
  std::vector<double> rest_m3_;
};

}  // namespace derm::detail::repro
