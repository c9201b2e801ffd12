#pragma once

#include <vector>

#include "derm/scene/correctives.h"
#include "derm/scene/scene.h"

#include "scene/motion_samples.h"

/// Private to room scene.
namespace derm::detail {

/// A corrected character against the scene it was made from.
struct PlayedFile {
  double frames_m = 0;      ///< [m] largest distance at the scene's frames
  double frames_rms_m = 0;  ///< [m] the same, root of the mean square
  double keys_m = 0;        ///< [m] largest distance at all keys, the frames' too
  double between_m = 0;     ///< [m] largest distance at all instants but the frames
  double between_s = 0;     ///< [s] where that was
  /// Largest relative change of volume against rest, with its sign, at all instants.
  double volume_change = 0;
  std::vector<double> frame_volumes_m3;
  std::vector<double> over_s;  ///< [s] instants without a key that are off by more than the bound
};

/// Plays corrected characters as an engine does, morphs and linear skinning in float with the
/// clip's own interpolation, at every instant the fitter knows and halfway between any two of them.
class CorrectivePlayer {
 public:
  CorrectivePlayer(const Scene& scene, const CorrectiveFitter& fitter, MotionSamples& samples)
      : scene_(scene), fitter_(fitter), samples_(samples) {}

  /// `clip` is one of the character's, or null.
  Result<PlayedFile> play(const Character& character, const Clip* clip, double bound_m);

 private:
  const Scene& scene_;
  const CorrectiveFitter& fitter_;
  MotionSamples& samples_;
};

}  // namespace derm::detail
