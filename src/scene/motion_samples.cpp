#include "scene/motion_samples.h"

#include <utility>

namespace derm::detail {

MotionSamples::MotionSamples(const Scene& scene, std::shared_ptr<const Stack> plain,
                             std::shared_ptr<const Stack> unskinned)
    : scene_(scene),
      playback_(scene.playback().another(SeekRule::Replay)),
      plain_(std::move(plain)) {
  if (unskinned != nullptr) unskinned_.emplace(std::move(unskinned));
}

CorrectiveFitter::Frame MotionSamples::at(double time_s) {
  const SkinFrame& wanted = playback_.frameAt(time_s);
  const Pose& pose = playback_.pose();
  const SkinFrame& plain = plain_.evaluate(pose, time_s);
  return {.time_s = time_s,
          .palette = plain_.palette(),
          .wanted = wanted.streams(),
          .plain = plain.streams(),
          .unskinned_normals = unskinnedNormals(pose, time_s)};
}

std::span<const Vec3f> MotionSamples::unskinnedNormals(const Pose& pose, double time_s) {
  if (!unskinned_) return scene_.character()->mesh.normals;
  unskinned_->setPose(pose, time_s);
  return unskinned_->evaluate().normals();
}

std::span<const Vec3f> MotionSamples::plainAt(double time_s) {
  pose_ = scene_.character()->restPose();
  if (scene_.clip() != nullptr) sampleClip(*scene_.clip(), static_cast<float>(time_s), pose_);
  return plain_.evaluate(pose_, time_s).positions();
}

}  // namespace derm::detail
