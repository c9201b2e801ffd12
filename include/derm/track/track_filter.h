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

/// What calibrateLids() found of one eye.
struct LidCalibration {
  std::size_t filled_frames = 0;  ///< in which the other eye said where this one's lids are
  double smallest = 1;            ///< [1] least opening that was seen, over that of the first frame
  bool shut = false;              ///< whether that was taken for a shut eye
};
struct LidCalibrations {
  LidCalibration left, right;
};

/// Makes lids of a film shut where the film's did. Dots that are painted on the margins of the lids
/// fold as these meet: the middle of what is left of them is not the point that was painted, and a
/// shut eye seems to be open by a tenth or two. Two steps, both for lids alone (3.1 and 3.3, 3.2
/// and 3.4, by number):
/// Gaps. Eyes blink together: while a lid's marker is not seen and its partner of the other eye is,
/// it does what that does, mirrored; what this is off by at either end is spread over the gap.
/// Closing. With c the opening seen over that of the first frame and m the film's smallest (the
/// second smallest, as one frame may be wrong), where m < `most`, c becomes
/// c - m min(1, 2 (1 - c) / (1 - m)): what was seen least is shut, what is open stays, and between
/// the offset grows as long as the dot is being folded. The upper lid moves. A face that never
/// shuts its eyes below `most` is left as it is; one that only squints further than that is shut.
/// Requires valid tracks of a picture from which the head's motion was taken out.
LidCalibrations calibrateLids(PointTracks& tracks, double most = 0.25);

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
