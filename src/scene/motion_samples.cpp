#include "scene/motion_samples.h"

#include <utility>

namespace derm::detail {
namespace {

std::span<const Vec3f> gathered(std::span<const Vec3f> from, std::span<const std::uint32_t> order,
                                std::vector<Vec3f>& to) {
  if (order.empty() || from.empty()) return from;
  to.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) to[i] = from[order[i]];
  return to;
}

}  // namespace

MotionSamples::MotionSamples(const Scene& scene, const BakeTarget& target, std::size_t clip)
    : scene_(scene),
      target_(target),
      clip_(clip),
      playback_(scene.playback().another(SeekRule::Replay)),
      plain_(target.plain) {
  if (target.unskinned != nullptr) unskinned_.emplace(target.unskinned);
}

CorrectiveFitter::Frame MotionSamples::at(double time_s) {
  const SkinFrame& wanted = playback_.frameAt(time_s);
  return of(playback_.pose(), time_s, wanted.streams());
}

CorrectiveFitter::Frame MotionSamples::of(const Pose& pose, double time_s,
                                          const SurfaceStreams& surface) {
  const SkinFrame& plain = plain_.evaluate(pose, time_s);
  return {.clip = clip_,
          .time_s = time_s,
          .palette = plain_.palette(),
          .wanted = {.positions = gathered(surface.positions, target_.vertices, positions_),
                     .normals = gathered(surface.normals, target_.vertices, normals_),
                     .tangents = {}},
          .plain = plain.streams(),
          .unskinned_normals = unskinnedNormals(pose, time_s)};
}

std::span<const Vec3f> MotionSamples::unskinnedNormals(const Pose& pose, double time_s) {
  if (!unskinned_) return target_.character->mesh.normals;
  unskinned_->setPose(pose, time_s);
  return unskinned_->evaluate().normals();
}

std::span<const Vec3f> MotionSamples::plainAt(double time_s) {
  pose_ = target_.character->restPose();
  if (scene_.clip() != nullptr) sampleClip(*scene_.clip(), static_cast<float>(time_s), pose_);
  return plain_.evaluate(pose_, time_s).positions();
}

}  // namespace derm::detail
