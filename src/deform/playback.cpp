#include "derm/deform/playback.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "derm/mesh/measures.h"

namespace derm {
namespace {

/// Inner steps between checkpoints at first: scrubbing back replays at most this many.
constexpr std::int64_t kCheckpointEvery = 64;
/// When there are more, every second one goes: a long clip must not eat the memory.
constexpr std::size_t kMaxCheckpoints = 256;
/// [s] A frame further ahead than this does not follow the one before.
constexpr double kFollows_s = 0.5;
/// A frame this close to an inner step is on it: 1/60 is not a whole number of 1/240 in binary.
constexpr double kOnStep = 1e-6;
/// [s] Beyond it the grid of inner steps would lose its digits.
constexpr double kMaxSeconds = 1e6;
/// Minutes of work that nothing could interrupt.
constexpr double kMaxPrerollSteps = 1e7;

Error badArgument(const char* element, std::string message) {
  return Error{ErrorCode::BadArgument, std::move(message), {.element = element}};
}

double wrapped(double time_s, double start_s, double end_s) {
  const double length = end_s - start_s;
  if (!(length > 0)) return start_s;
  const double turns = std::floor((time_s - start_s) / length);
  const double inside = std::clamp(time_s - turns * length, start_s, end_s);
  return inside < end_s ? inside : start_s;  // the end of a loop is its start
}

}  // namespace

Result<Playback> Playback::make(std::shared_ptr<const Stack> stack, const Clip* clip,
                                const PlaybackDesc& desc) {
  DERM_REQUIRE(stack != nullptr);
  const auto reachable = [](double t) { return std::abs(t) <= kMaxSeconds; };  // false for NaN
  if (!reachable(desc.start_s) || !reachable(desc.end_s) || desc.end_s < desc.start_s)
    return badArgument("range", "a range ends after it starts and stays within 1e6 seconds");
  if (!reachable(desc.preroll_s) || desc.preroll_s < 0)
    return badArgument("preroll_s", "expected 0 to 1e6 seconds");
  if (!(desc.inner_rate_hz >= 1 && desc.inner_rate_hz <= 100000))
    return badArgument("inner_rate_hz", "expected 1 to 100000 Hz");
  if (desc.teleport_m && !(*desc.teleport_m > 0))
    return badArgument("teleport_m", "expected more than 0 metres");
  if (desc.preroll_s * desc.inner_rate_hz > kMaxPrerollSteps)
    return badArgument("preroll_s", "more than ten million inner steps before the first frame");
  for (const auto& [control, value] : desc.controls)
    if (control >= stack->character().controls.size() || !std::isfinite(value))
      return badArgument("controls", "no such control, or a value that is not finite");
  if (clip != nullptr) {
    const Character& c = stack->character();
    DERM_CHECK(validate(*clip, clipTargets(c), c.name));
  }
  return Playback(std::move(stack), clip, desc);
}

Playback::Playback(std::shared_ptr<const Stack> stack, const Clip* clip, const PlaybackDesc& desc)
    : runner_(std::move(stack), desc.topology),
      clip_(clip),
      desc_(desc),
      rest_pose_(runner_.pose()),
      sampled_(rest_pose_),
      controls_(rest_pose_.controls.size()),
      checkpoint_every_(kCheckpointEvery) {
  for (const auto& [control, value] : desc.controls) controls_[control] = value;
  runner_.keepChannels(desc.channels);
  findBones();
  teleport_m_ =
      desc.teleport_m.value_or(0.5 * bounds(runner_.stack().character().mesh.positions).diagonal());
}

Playback Playback::another(SeekRule seek) const {
  PlaybackDesc desc = desc_;
  desc.seek = seek;
  Playback out(runner_.sharedStack(), clip_, desc);
  out.controls_ = controls_;
  return out;
}

void Playback::startAnew() {
  started_ = false;
  step_ = 0;
  checkpoints_.clear();
  checkpoint_every_ = kCheckpointEvery;
}

void Playback::change(std::shared_ptr<const Stack> stack) {
  // New layers come to rest where the others are: at the last inner step, not at the last frame.
  if (started_) poseAt(timeOfStep(step_));
  runner_.change(std::move(stack));
  findBones();
  checkpoints_.clear();
}

void Playback::setControl(std::size_t control, std::optional<float> value) {
  DERM_REQUIRE(control < controls_.size() && (!value || std::isfinite(*value)));
  controls_[control] = value;
  checkpoints_.clear();
}

void Playback::keepChannels(std::vector<std::string> names) {
  desc_.channels = names;
  runner_.keepChannels(std::move(names));
}

double Playback::timeOfStep(std::int64_t step) const {
  return desc_.start_s - desc_.preroll_s + static_cast<double>(step) / desc_.inner_rate_hz;
}

/// The instant of the range that is shown for any time.
double Playback::inRange(double time_s) const {
  if (!std::isfinite(time_s)) time_s = desc_.start_s;
  return desc_.loop ? wrapped(time_s, desc_.start_s, desc_.end_s)
                    : std::clamp(time_s, desc_.start_s, desc_.end_s);
}

void Playback::samplePose(double time_s, Pose& out) const {
  copyPose(rest_pose_, out);
  if (clip_ != nullptr) sampleClip(*clip_, static_cast<float>(time_s), out);
  for (std::size_t i = 0; i < controls_.size(); ++i)
    if (controls_[i]) out.controls[i] = *controls_[i];
}

Pose Playback::poseOf(double time_s) const {
  Pose out;
  samplePose(inRange(time_s), out);
  return out;
}

void Playback::poseAt(double time_s) {
  // Before the start a loop has been going round; any other clip plays what it has there.
  if (desc_.loop) time_s = wrapped(time_s, desc_.start_s, desc_.end_s);
  samplePose(time_s, sampled_);
  runner_.setPose(sampled_, time_s);
}

/// Where the character is: the mean of its bones, so that no single joint's jerk counts as a cut; a
/// sword that is thrown is no bone. Of all joints where there are none.
Vec3d Playback::position() const {
  const std::span<const Affine3d> model = runner_.model();
  Vec3d sum = Vec3d::Zero();
  for (const std::size_t joint : bones_) sum += model[joint].translation();
  return bones_.empty() ? sum : Vec3d(sum / static_cast<double>(bones_.size()));
}

void Playback::findBones() {
  const std::vector<bool> bone = runner_.stack().character().bones();
  const bool any = std::find(bone.begin(), bone.end(), true) != bone.end();
  bones_.clear();
  for (std::size_t j = 0; j < bone.size(); ++j)
    if (!any || bone[j]) bones_.push_back(j);
}

void Playback::restartAt(std::int64_t step) {
  poseAt(timeOfStep(step));
  runner_.reset();
  last_position_ = position();
  step_ = step;
}

void Playback::advanceTo(std::int64_t step, std::span<double> layer_seconds) {
  while (step_ < step) {
    ++step_;
    poseAt(timeOfStep(step_));
    const Vec3d here = position();
    const bool cut = (here - last_position_).norm() > teleport_m_;
    last_position_ = here;
    if (cut)
      runner_.reset();
    else
      takeStep(layer_seconds);
    keepCheckpoint();
  }
}

/// The inner step to step_, whose pose is set: in parts, with poses between, where a layer asks.
void Playback::takeStep(std::span<double> layer_seconds) {
  const double dt_s = 1.0 / desc_.inner_rate_hz;
  const int parts = runner_.partsOfStep(dt_s);
  for (int part = 1; part <= parts; ++part) {
    if (part < parts)
      poseAt(timeOfStep(step_ - 1) + dt_s * part / parts);
    else if (parts > 1)
      poseAt(timeOfStep(step_));
    runner_.step(dt_s / parts, layer_seconds, part > 1);
  }
}

void Playback::keepCheckpoint() {
  if (desc_.seek != SeekRule::Replay || step_ % checkpoint_every_ != 0) return;
  if (!checkpoints_.empty() && checkpoints_.back().step >= step_) return;
  StateWriter state;
  runner_.saveState(state);
  checkpoints_.push_back({step_, state.bytes()});
  if (checkpoints_.size() <= kMaxCheckpoints) return;
  checkpoint_every_ *= 2;
  std::erase_if(checkpoints_, [&](const Checkpoint& c) { return c.step % checkpoint_every_ != 0; });
}

/// Goes to the last checkpoint at or before the step, or to the simulation's start.
void Playback::restartBefore(std::int64_t step) {
  const auto after =
      std::upper_bound(checkpoints_.begin(), checkpoints_.end(), step,
                       [](std::int64_t wanted, const Checkpoint& c) { return wanted < c.step; });
  if (after == checkpoints_.begin()) {
    restartAt(0);
    return;
  }
  const Checkpoint& from = *std::prev(after);
  restartAt(from.step);
  StateReader state(from.state);
  const Result<void> restored = runner_.restoreState(state);
  DERM_REQUIRE(restored.ok());  // our own bytes, written by this very stack
}

void Playback::seekTo(std::int64_t step, std::span<double> layer_seconds) {
  const auto max_ahead = static_cast<std::int64_t>(std::ceil(kFollows_s * desc_.inner_rate_hz));
  const bool ahead = started_ && step >= step_;
  const bool follows = ahead && step - step_ <= max_ahead;
  const auto preroll = static_cast<std::int64_t>(std::ceil(desc_.preroll_s * desc_.inner_rate_hz));
  if (!started_)
    restartAt(desc_.seek == SeekRule::Replay ? 0 : std::max<std::int64_t>(0, step - preroll - 1));
  else if (desc_.seek == SeekRule::Reset && !follows)
    restartAt(step);
  else if (desc_.seek == SeekRule::Preroll && !follows)
    restartAt(std::max<std::int64_t>(0, step - preroll - 1));
  else if (desc_.seek == SeekRule::Replay && !ahead)
    restartBefore(step);
  started_ = true;
  advanceTo(step, layer_seconds);
}

const SkinFrame& Playback::frameAt(double time_s, std::span<double> layer_seconds) {
  time_s = inRange(time_s);
  double fraction = 1.0;
  if (runner_.stack().stateful()) {
    const double steps = (time_s - timeOfStep(0)) * desc_.inner_rate_hz;
    const double whole = std::floor(steps + kOnStep);
    fraction = std::clamp(steps - whole, 0.0, 1.0);
    if (fraction < kOnStep) fraction = 0;
    // The state after the next inner step is shown mixed with the one before it.
    seekTo(static_cast<std::int64_t>(whole) + 1, layer_seconds);
  }
  poseAt(time_s);
  return runner_.evaluate(fraction, layer_seconds);
}

std::uint64_t Playback::stateHash() const {
  StateWriter state;
  runner_.saveState(state);
  return state.hash();
}

}  // namespace derm
