#pragma once

#include <vector>

#include "derm/scene/correctives.h"
#include "derm/scene/scene.h"

#include "scene/motion_samples.h"

/// Private to room scene.
namespace derm::detail {

/// A corrected character against the scenes it was made from.
struct PlayedFile {
  std::size_t frames = 0;
  double frames_m = 0;           ///< [m] largest distance at the scene's frames
  double frames_rms_m = 0;       ///< [m] the same, root of the mean square
  double keys_m = 0;             ///< [m] largest distance at all keys, the frames' too
  double between_m = 0;          ///< [m] largest distance at all instants but the frames
  double between_s = 0;          ///< [s] where that was,
  std::size_t between_clip = 0;  ///< and in which clip
  /// Largest relative change of volume against rest, with its sign, at all instants.
  double volume_change = 0;
  std::vector<double> frame_volumes_m3;
  std::vector<double> over_s;  ///< [s] instants without a key that are off by more than the bound

  double largest() const { return frames_m > between_m ? frames_m : between_m; }
  /// Goes on with what another clip of the same character shows; `over_s` stays as it is.
  void add(const PlayedFile& other);
};

/// Plays corrected characters as an engine does, morphs and linear skinning in float with the
/// clip's own interpolation, at every instant of a clip that the fitter knows and halfway between
/// any two of them.
class CorrectivePlayer {
 public:
  CorrectivePlayer(const Scene& scene, const CorrectiveFitter& fitter, MotionSamples& samples)
      : scene_(scene), fitter_(fitter), samples_(samples) {}

  /// `stack` is what engineStack() gave, `clip` one of its character's, or null.
  PlayedFile play(std::shared_ptr<const Stack> stack, const Clip* clip, double bound_m);

 private:
  const Scene& scene_;
  const CorrectiveFitter& fitter_;
  MotionSamples& samples_;
};

/// What an engine plays: morphs and linear skinning.
Result<std::shared_ptr<const Stack>> engineStack(std::shared_ptr<const Character> character);

}  // namespace derm::detail
