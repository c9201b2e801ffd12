#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/anim/clip.h"
#include "derm/deform/stack.h"

namespace derm {

/// What happens when a frame is asked for that does not follow the one before: an earlier one, or
/// one more than half a second later.
enum class SeekRule {
  Replay,   ///< as if played straight through from the start: scrubbing gives the same bits
  Reset,    ///< at rest at the new instant: cheapest
  Preroll,  ///< simulated over `preroll_s` before the new instant
};

/// How a clip is played through a stack.
struct PlaybackDesc {
  double start_s = 0;    ///< [s] first instant, in clip time
  double end_s = 0;      ///< [s] last instant, >= start_s
  double preroll_s = 0;  ///< [s] simulated before the first frame, >= 0
  bool loop = false;     ///< time outside the range goes on inside it; the end is the start
  SeekRule seek = SeekRule::Replay;
  double inner_rate_hz = 240;  ///< [Hz] fixed step of stateful layers, whatever the frame rate
  /// [m] > 0: a character that moves further than this in one inner step (the mean of its skin's
  /// joints) was cut to another place, and stateful layers come to rest there. Absent = half the
  /// rest mesh's bounding diagonal.
  std::optional<double> teleport_m = {};
  Topology topology = Topology::Constant;
  /// Controls by their index that have this value all the time, whatever the clip says.
  std::vector<std::pair<std::size_t, float>> controls = {};
  std::vector<std::string> channels = {};  ///< masks that frames have, see keepChannels()
};

/// Plays a clip through a stack. The surface at an instant depends on that instant alone (with
/// SeekRule::Replay): playing, scrubbing back and forth, looping and baking give the same bits.
/// Stateful layers run on a fixed grid of inner steps from the start; checkpoints of their state
/// (at most 256, taken while playing) make scrubbing back cheap. Not thread-safe.
class Playback {
 public:
  /// `clip` may be null: the rest pose. It must outlive the playback (one of the stack's character
  /// does). Fails on a range that is not finite, runs backwards or leaves +-10^6 s, on preroll
  /// outside [0, 10^6] s, on controls that do not exist or are not finite, on rates outside [1,
  /// 100000] Hz and on teleport_m <= 0.
  static Result<Playback> make(std::shared_ptr<const Stack> stack, const Clip* clip,
                               const PlaybackDesc& desc);

  /// The surface at this instant of clip time, valid until the next call. Times outside the range
  /// are clamped, or wrapped by whole lengths of the range where the playback loops; a time that is
  /// not finite is the start. Where `layer_seconds` is not empty (one entry per layer), the time
  /// each layer took is added to it, its inner steps too.
  const SkinFrame& frameAt(double time_s, std::span<double> layer_seconds = {});

  /// Goes on with another stack of the same character (Stack::rebind), without a break: see
  /// StackRunner::change(). The frames from here on are those that the edited layers make of the
  /// motion so far; an earlier instant is replayed with the edited layers alone.
  void change(std::shared_ptr<const Stack> stack);
  /// Sets a control of the character from here on, whatever the clip says; nothing = as the clip
  /// says. Requires control < character().controls.size() and a finite value.
  void setControl(std::size_t control, std::optional<float> value);

  /// See StackRunner::keepChannels(): masks of layers, for pictures and files.
  void keepChannels(std::vector<std::string> names);

  /// Forgets the motion so far: the next frame is that of a playback which has not started yet.
  void startAnew();
  /// Another playback of the same stack and clip, not started yet.
  Playback another(SeekRule seek) const;

  /// The pose that frameAt() takes at an instant.
  Pose poseOf(double time_s) const;
  /// The pose the last frame was made of, and its joint-to-model matrices.
  const Pose& pose() const { return runner_.pose(); }
  std::span<const Affine3d> model() const { return runner_.model(); }
  const Stack& stack() const { return runner_.stack(); }
  const std::shared_ptr<const Stack>& sharedStack() const { return runner_.sharedStack(); }
  /// The layer at work of that name, if it is a T; null where there is none.
  template <class T = Layer>
  const T* find(std::string_view name) const {
    return runner_.find<T>(name);
  }
  /// Adds what was odd in the frames so far, layer by layer.
  void report(Diagnostics& notes) const { runner_.report(notes); }
  const PlaybackDesc& desc() const { return desc_; }
  /// Hash of all layers' states after the last frame.
  std::uint64_t stateHash() const;

 private:
  struct Checkpoint {
    std::int64_t step;
    std::vector<std::uint8_t> state;
  };

  Playback(std::shared_ptr<const Stack> stack, const Clip* clip, const PlaybackDesc& desc);
  double timeOfStep(std::int64_t step) const;
  double inRange(double time_s) const;
  void samplePose(double time_s, Pose& out) const;
  void poseAt(double time_s);
  Vec3d position() const;
  void findBones();
  void restartAt(std::int64_t step);
  void restartBefore(std::int64_t step);
  void advanceTo(std::int64_t step, std::span<double> layer_seconds);
  void takeStep(std::span<double> layer_seconds);
  void seekTo(std::int64_t step, std::span<double> layer_seconds);
  void keepCheckpoint();

  StackRunner runner_;
  const Clip* clip_;
  PlaybackDesc desc_;
  double teleport_m_ = 0;
  Pose rest_pose_;
  Pose sampled_;
  std::vector<std::size_t> bones_;              ///< joints whose mean is where the character is
  std::vector<std::optional<float>> controls_;  ///< one per control: instead of the clip's
  std::int64_t step_ = 0;  ///< inner steps since the simulation's start, preroll included
  bool started_ = false;
  Vec3d last_position_ = Vec3d::Zero();  ///< of the character at step_
  std::int64_t checkpoint_every_ = 0;
  std::vector<Checkpoint> checkpoints_;  ///< in order of their steps
};

}  // namespace derm
