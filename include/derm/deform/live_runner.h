#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/deform/stack.h"

namespace derm {

struct LiveDesc {
  double inner_rate_hz = 240;  ///< [Hz] [1, 100000] stateful layers take steps of at most 1 / this
  /// [s] > 0 a frame that took longer (a hidden window, a breakpoint) counts as this long.
  double max_frame_s = 0.1;
  Topology topology = Topology::Constant;
};

/// Plays a stack for an engine that has a clock and poses of its own: frames may be as uneven as
/// they like, and flesh swings as it does in a Playback (within 1 % at common instants from 15 to
/// 240 frames per second, tests/deform/live_runner_test.cpp), since stateful layers are stepped in
/// equal parts of a frame, none longer than an inner step. Not thread-safe; nothing allocates per
/// frame.
class LiveRunner {
 public:
  /// Writes the character's pose `ago_s` >= 0 seconds before the frame. Called for the instants
  /// between two frames, in their order, and last for the frame itself (0).
  using PoseAt = std::function<void(double ago_s, Pose& pose)>;

  /// At rest in the character's rest pose. Requires desc in range.
  explicit LiveRunner(std::shared_ptr<const Stack> stack, const LiveDesc& desc = {});

  /// After a start or a cut to another place: at rest in this pose, no motion before it counts.
  void reset(const Pose& pose) noexcept;
  /// The surface dt_s >= 0 seconds after the last one, valid until the next call. A paused engine
  /// (dt_s = 0) sees its flesh stand still. Where the engine can pose its character at any instant,
  /// between frames too, this is exact.
  const SkinFrame& advance(double dt_s, const PoseAt& pose_at);
  /// The same for an engine that has the pose of the frame alone: poses between frames are guessed
  /// by a smooth curve through those so far. Measured on quick shakes, the swing is off by 0.1 % at
  /// 60 frames per second, 0.4 % at 30 and 5 % at 15 (tests/deform/live_runner_test.cpp).
  const SkinFrame& advance(double dt_s, const Pose& pose);

  /// See StackRunner::change(): edits while it plays.
  void change(std::shared_ptr<const Stack> stack) { runner_.change(std::move(stack)); }
  /// See StackRunner::keepChannels(): masks of layers, to be looked at.
  void keepChannels(std::vector<std::string> names) { runner_.keepChannels(std::move(names)); }
  template <class T = Layer>
  T* find(std::string_view name) {
    return runner_.find<T>(name);
  }
  const Stack& stack() const { return runner_.stack(); }
  double time_s() const { return time_s_; }  ///< [s] since the last reset

 private:
  void guess(double ago_s, Pose& pose) const;
  void learn(const Pose& pose, double dt_s);

  StackRunner runner_;
  LiveDesc desc_;
  double time_s_ = 0;
  Pose posed_;  ///< between frames
  // A curve through the engine's poses, number by number: value and slope at the last two frames.
  std::vector<float> last_, now_, last_slope_, now_slope_, mean_speed_;
  double frame_s_ = 0;  ///< [s] between them
  std::size_t known_frames_ = 0;
  PoseAt guess_;
};

}  // namespace derm
