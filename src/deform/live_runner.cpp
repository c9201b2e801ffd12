#include "derm/deform/live_runner.h"

#include <algorithm>
#include <cmath>

#include "derm/base/assert.h"
#include "derm/math/transform.h"

namespace derm {
namespace {

/// All numbers of a pose in a row.
template <class Body>
void eachNumber(const Pose& pose, const Body& body) {
  std::size_t i = 0;
  for (const Transform& t : pose.local) {
    for (int k = 0; k < 3; ++k) body(i++, t.translation[k]);
    for (int k = 0; k < 4; ++k) body(i++, t.rotation.coeffs()[k]);
    for (int k = 0; k < 3; ++k) body(i++, t.scale[k]);
  }
  for (const float w : pose.morph_weights) body(i++, w);
  for (const float c : pose.controls) body(i++, c);
}

constexpr std::size_t kPerJoint = 10, kRotation = 3;

std::size_t numberCount(const Pose& pose) {
  return kPerJoint * pose.local.size() + pose.morph_weights.size() + pose.controls.size();
}

}  // namespace

LiveRunner::LiveRunner(std::shared_ptr<const Stack> stack, const LiveDesc& desc)
    : runner_(std::move(stack), desc.topology), desc_(desc), posed_(runner_.pose()) {
  DERM_REQUIRE(desc.inner_rate_hz >= 1 && desc.inner_rate_hz <= 100000 && desc.max_frame_s > 0);
  for (std::vector<float>* numbers : {&last_, &now_, &last_slope_, &now_slope_, &mean_speed_})
    numbers->assign(numberCount(posed_), 0.0f);
  guess_ = [this](double ago_s, Pose& pose) { guess(ago_s, pose); };
  reset(posed_);
}

void LiveRunner::reset(const Pose& pose) noexcept {
  runner_.setPose(pose, 0.0);
  runner_.reset();
  time_s_ = 0;
  known_frames_ = 0;
  learn(pose, 0.0);
}

const SkinFrame& LiveRunner::advance(double dt_s, const PoseAt& pose_at) {
  DERM_REQUIRE(dt_s >= 0);
  dt_s = std::min(dt_s, desc_.max_frame_s);
  const double end_s = time_s_ + dt_s;
  if (dt_s > 0 && runner_.stack().stateful()) {
    const auto steps = std::max(1, static_cast<int>(std::ceil(dt_s * desc_.inner_rate_hz - 1e-6)));
    for (int i = 1; i < steps; ++i) {
      const double ago_s = dt_s * (steps - i) / steps;
      pose_at(ago_s, posed_);
      runner_.setPose(posed_, end_s - ago_s);
      runner_.step(dt_s / steps);
    }
    pose_at(0.0, posed_);
    runner_.setPose(posed_, end_s);
    runner_.step(dt_s / steps);
  } else {
    pose_at(0.0, posed_);
    runner_.setPose(posed_, end_s);
  }
  time_s_ = end_s;
  return runner_.evaluate();
}

const SkinFrame& LiveRunner::advance(double dt_s, const Pose& pose) {
  DERM_REQUIRE(numberCount(pose) == now_.size());
  learn(pose, std::min(dt_s, desc_.max_frame_s));
  return advance(dt_s, guess_);
}

/// Takes the engine's next pose up. Its slope is that of the parabola through the last three, and
/// the next piece of the curve begins with it: no kinks.
void LiveRunner::learn(const Pose& pose, double dt_s) {
  const bool moves = known_frames_ > 0 && dt_s > 0;
  if (moves) {
    std::swap(last_, now_);
    std::swap(last_slope_, now_slope_);
  }
  eachNumber(pose, [&](std::size_t i, float value) { now_[i] = value; });
  if (!moves) {
    std::fill(now_slope_.begin(), now_slope_.end(), 0.0f);
    known_frames_ = 1;
    return;
  }
  for (std::size_t j = 0; j < pose.local.size(); ++j) {
    // q and -q are one rotation: the curve goes to the nearer one.
    float* const q = &now_[kPerJoint * j + kRotation];
    const float* const before = &last_[kPerJoint * j + kRotation];
    float dot = 0;
    for (int k = 0; k < 4; ++k) dot += q[k] * before[k];
    if (dot < 0)
      for (int k = 0; k < 4; ++k) q[k] = -q[k];
  }
  const auto step = static_cast<float>(dt_s);
  const float bend = step / (step + static_cast<float>(frame_s_));
  for (std::size_t i = 0; i < now_.size(); ++i) {
    const float speed = (now_[i] - last_[i]) / step;
    if (known_frames_ == 1) last_slope_[i] = mean_speed_[i] = speed;
    now_slope_[i] = speed + (speed - mean_speed_[i]) * bend;
    mean_speed_[i] = speed;
  }
  frame_s_ = dt_s;
  ++known_frames_;
}

void LiveRunner::guess(double ago_s, Pose& pose) const {
  const auto h = static_cast<float>(frame_s_);
  const auto u = known_frames_ > 1 ? static_cast<float>(1 - ago_s / frame_s_) : 1.0f;
  const auto at = [&](std::size_t i) {
    const float w = 1 - u;
    return w * w * ((1 + 2 * u) * last_[i] + u * h * last_slope_[i]) +
           u * u * ((1 + 2 * w) * now_[i] - w * h * now_slope_[i]);
  };
  std::size_t i = 0;
  for (Transform& t : pose.local) {
    for (int k = 0; k < 3; ++k) t.translation[k] = at(i++);
    for (int k = 0; k < 4; ++k) t.rotation.coeffs()[k] = at(i++);
    // The engine's own rotations are kept as they are, rounding and all.
    if (u < 1) t.rotation = normalisedOrIdentity(t.rotation);
    for (int k = 0; k < 3; ++k) t.scale[k] = at(i++);
  }
  for (float& w : pose.morph_weights) w = at(i++);
  for (float& c : pose.controls) c = at(i++);
}

}  // namespace derm
