#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "derm/base/hash.h"
#include "derm/deform/stack.h"
#include "derm/scene/bake_report.h"
#include "derm/scene/linear_reference.h"
#include "derm/scene/scene.h"

namespace derm::detail {

/// One frame of a bake; everything is valid until the next.
struct BakedFrame {
  std::size_t clip = 0;   ///< of the scenes that are baked
  std::size_t index = 0;  ///< in its scene
  double time_s = 0;
  const Pose& pose;
  const SkinFrame& surface;           ///< what the stack gives
  std::span<const Affine3f> palette;  ///< empty where there is no `plain`
  SurfaceStreams wanted;              ///< of the surface
  SurfaceStreams plain;               ///< what linear skinning gives; empty where nobody needs it
};

/// Makes the frames of a scene one after another, with their measures.
class BakedFrames {
 public:
  /// `plain` (see Scene::linearReferenceStack) may be null where nobody needs it. Without
  /// `measure`, which needs it, the frames' measures and hash stay empty.
  BakedFrames(Scene& scene, std::size_t clip, std::shared_ptr<const Stack> plain, bool measure);

  std::size_t count() const { return scene_.frameTimes().size(); }
  /// Frames in order from 0.
  BakedFrame make(std::size_t index);
  /// Adds frames, layers, hash and counts of what was made so far.
  void fill(BakeReport& report) const;

 private:
  void measure(double time_s, const SkinFrame& wanted, std::span<const Vec3f> plain);

  Scene& scene_;
  std::size_t clip_;
  std::optional<LinearReference> plain_;
  std::vector<double> layer_seconds_;
  bool measure_;
  std::size_t next_ = 0;
  std::vector<BakeReport::Frame> measures_;
  Hash64 hash_;
};

}  // namespace derm::detail
