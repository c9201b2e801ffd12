#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "derm/scene/correctives.h"
#include "derm/scene/linear_reference.h"
#include "derm/scene/scene.h"

#include "scene/bake_target.h"

/// Private to room scene.
namespace derm::detail {

/// A scene's surfaces at any instant of its range, beside what plain linear skinning of the target
/// gives there: as the fitter of correctives wants them. Stateful layers are as if played straight
/// through, whatever the recipe's rule for jumps; the scene's own playback is left alone.
class MotionSamples {
 public:
  /// `clip` is what the fitter knows the scene's clip by.
  MotionSamples(const Scene& scene, const BakeTarget& target, std::size_t clip);

  std::size_t clip() const { return clip_; }
  /// Everything is valid until the next call. Quickest with times that go up.
  CorrectiveFitter::Frame at(double time_s);
  /// The same of a surface that the scene gave in this pose.
  CorrectiveFitter::Frame of(const Pose& pose, double time_s, const SurfaceStreams& surface);
  /// Plain linear skinning alone, with its clip at this time.
  std::span<const Vec3f> plainAt(double time_s);

 private:
  std::span<const Vec3f> unskinnedNormals(const Pose& pose, double time_s);

  const Scene& scene_;
  const BakeTarget& target_;
  std::size_t clip_;
  Playback playback_;
  LinearReference plain_;
  std::optional<StackRunner> unskinned_;
  std::vector<Vec3f> positions_, normals_;  ///< of the surface, in the target's order
  Pose pose_;
};

}  // namespace derm::detail
