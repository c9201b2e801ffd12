#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "derm/anim/point_tracks.h"
#include "derm/math/vec.h"

namespace derm {

/// Smooths tracks that are complete, without delay (zero phase): each position becomes the value at
/// its time of the straight line that fits those around it best, weighted by a Gaussian of standard
/// deviation `sigma_s` in time and by confidence (at least 0.05, so that filled gaps are not lost).
/// Times may be uneven. Straight motion stays as it is, at the ends too. Half of a vibration's
/// amplitude is left at 0.187 / sigma_s Hz. Confidence, neutral and head stay. Requires valid
/// tracks; 0 does nothing.
void smoothZeroPhase(PointTracks& tracks, double sigma_s);

struct OneEuroDesc {
  double min_cutoff_hz = 1.5;  ///< (0,1000] of what rests: less is smoother
  double speed_gain = 0.02;    ///< [0,1000] added to it per unit of speed: more lags less
  double speed_cutoff_hz = 1;  ///< (0,1000] of the speed itself
};

/// Smooths points as they come, for live use: a low-pass filter whose cut-off grows with speed, so
/// that what rests does not tremble and what moves lags little (Casiez, Roussel, Vogel 2012, the
/// "1 euro filter"). Time steps may be uneven.
class OneEuroFilter {
 public:
  OneEuroFilter(std::size_t points, const OneEuroDesc& desc);
  /// In place. Requires as many points as the filter has; times that increase (others: no change).
  void step(double time_s, std::span<Vec3d> points);

 private:
  OneEuroDesc desc_;
  bool started_ = false;
  double time_s_ = 0;
  std::vector<Vec3d> value_, speed_;
};

}  // namespace derm
