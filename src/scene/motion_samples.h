#pragma once

#include <memory>
#include <optional>

#include "derm/scene/correctives.h"
#include "derm/scene/linear_reference.h"
#include "derm/scene/scene.h"

/// Private to room scene.
namespace derm::detail {

/// A scene's surfaces at any instant of its range, beside what plain linear skinning gives there:
/// as the fitter of correctives wants them. Stateful layers are as if played straight through,
/// whatever the recipe's rule for jumps; the scene's own playback is left alone.
class MotionSamples {
 public:
  /// `plain` is what Scene::linearReferenceStack() gave; `unskinned` (morphs alone) is null where
  /// the character has no morphs.
  MotionSamples(const Scene& scene, std::shared_ptr<const Stack> plain,
                std::shared_ptr<const Stack> unskinned);

  /// Everything is valid until the next call. Quickest with times that go up.
  CorrectiveFitter::Frame at(double time_s);
  /// What the character's normals are before skinning, in a pose; valid until the next call.
  std::span<const Vec3f> unskinnedNormals(const Pose& pose, double time_s);
  /// Plain linear skinning alone, with its clip at this time.
  std::span<const Vec3f> plainAt(double time_s);

 private:
  const Scene& scene_;
  Playback playback_;
  LinearReference plain_;
  std::optional<StackRunner> unskinned_;
  Pose pose_;
};

}  // namespace derm::detail
