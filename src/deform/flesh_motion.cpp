#include "deform/flesh_motion.h"

#include <algorithm>
#include <cmath>

namespace derm::detail {
namespace {

/// [s] An Euler step longer than this is taken as this long: the spring has come to rest.
constexpr double kLongestEuler_s = 60;
/// [s] Inner steps are mostly this long. What an anchor that leaps by cut_m in one does to its
/// velocity is a cut in shorter ones too: which motions are cuts does not depend on the step.
constexpr double kCutStep_s = 1.0 / 240;
/// A step that meets the limit is taken in so many: sliding along it turns fast.
constexpr int kStopSteps = 8;
/// The stop is soft: outward speed is at most so many times omega times the way that is left, and
/// this share of the limit more, so that the limit is reached.
constexpr double kStop = 8;
constexpr double kReaches = 0.005;
/// Times omega and the limit: a free swing from the limit is no faster than 1. Velocity beyond it
/// is braked, at this rate of omega.
constexpr double kFastest = 1.5;
constexpr double kBrake = 16;
/// [s] Steps are divided into such where the limit is met or the mass is fast, and where the anchor
/// is off a straight line by this share of the limit.
constexpr double kPart_s = 1.0 / 3840;
constexpr double kBentPart_s = 1.0 / 1440;
constexpr double kBentWay = 0.01;
constexpr int kMaxParts = 64;
/// [s] Longer steps tell too little of how the anchor's acceleration begins.
constexpr double kLongestStart_s = 1.0 / 59;

/// The rotation vector of a unit quaternion, the shorter way.
Vec3d logOf(const Quatd& q) {
  const Vec3d v = q.w() < 0 ? Vec3d(-q.vec()) : Vec3d(q.vec());
  const double sine = v.norm();
  if (sine < 1e-9) return 2 * v;
  return v * (2 * std::atan2(sine, std::abs(q.w())) / sine);
}

/// Takes velocity away that no free swing within `farthest` could have.
void brake(const SpringConstants& spring, double farthest, double dt_s, Vec3d& velocity) {
  const double fastest = kFastest * spring.omega * farthest;
  const double speed = velocity.norm();
  if (!(speed > fastest)) return;
  velocity *= (fastest + (speed - fastest) * std::exp(-kBrake * spring.omega * dt_s)) / speed;
}

/// How fast a mass at this length may go outwards.
double fastestOutward(const SpringConstants& spring, double farthest, double length) {
  if (length >= farthest) return 0;
  return kStop * spring.omega * (farthest - length + kReaches * farthest);
}

/// Brings a mass to rest at the limit however fast it was. A hard stop takes its speed in one
/// instant; whether a jerk of the bone comes just before or just after would make all the
/// difference.
void stop(const SpringConstants& spring, double farthest, Vec3d& offset, Vec3d& velocity) {
  const double length = offset.norm();
  if (!(length > 0)) return;
  const Vec3d outward = offset / length;
  if (length > farthest) offset = outward * farthest;
  const double fastest = fastestOutward(spring, farthest, length);
  velocity -= std::max(0.0, velocity.dot(outward) - fastest) * outward;
}

/// Whether brake() or stop() would change something.
bool isHeldBack(const SpringConstants& spring, double farthest, const Vec3d& offset,
                const Vec3d& velocity) {
  const double length = offset.norm();
  return length > farthest || velocity.norm() > kFastest * spring.omega * farthest ||
         velocity.dot(offset) > length * fastestOutward(spring, farthest, length);
}

/// A hard stop, for Euler's steps: no further, and no velocity outwards there.
void stopAt(double farthest, Vec3d& offset, Vec3d& velocity) {
  const double length = offset.norm();
  if (!(length > farthest)) return;
  const Vec3d outward = offset / length;
  offset = outward * farthest;
  velocity -= std::max(0.0, velocity.dot(outward)) * outward;
}

void apply(const SpringStep& s, const Vec3d& rest, Vec3d& offset, Vec3d& velocity) {
  const Vec3d x = offset - rest;
  offset = rest + s.xx * x + s.xv * velocity;
  velocity = s.vx * x + s.vv * velocity;
}

/// A step of a mass that is held within `farthest` of the anchor and braked.
void limitedStep(const SpringConstants& spring, const SpringStep& whole, const SpringStep& part,
                 double dt_s, double farthest, const Vec3d& rest, Vec3d& offset, Vec3d& velocity) {
  Vec3d end = offset, end_velocity = velocity;
  apply(whole, rest, end, end_velocity);
  if (!isHeldBack(spring, farthest, offset, velocity) &&
      !isHeldBack(spring, farthest, end, end_velocity)) {
    offset = end;
    velocity = end_velocity;
    return;
  }
  const double half_s = 0.5 * dt_s / kStopSteps;
  for (int i = 0; i < kStopSteps; ++i) {
    brake(spring, farthest, half_s, velocity);
    stop(spring, farthest, offset, velocity);
    apply(part, rest, offset, velocity);
    stop(spring, farthest, offset, velocity);
    brake(spring, farthest, half_s, velocity);
  }
}

/// [m] What the anchor may go astray in one step: farther is a cut.
double leapOf(const FleshDynamics& dynamics, const FleshAnchor& anchor, double dt_s) {
  return dynamics.cut_m * anchor.scale * std::min(1.0, dt_s / kCutStep_s);
}

bool usable(const FleshAnchor& anchor) {
  return anchor.position.allFinite() && anchor.orientation.coeffs().allFinite() &&
         std::isfinite(anchor.scale) && anchor.scale > 0;
}

}  // namespace

void FleshMotion::reset(const FleshDynamics& dynamics, const FleshAnchor& anchor) noexcept {
  const Coefficients kept = steps_;
  *this = FleshMotion();
  steps_ = kept;
  if (usable(anchor)) {
    position_ = anchor.position;
    orientation_ = anchor.orientation;
    known_ = 1;
  }
  now_.offset = dynamics.gravity / (dynamics.spring.omega * dynamics.spring.omega);
  stopAt(dynamics.farthest_m * (known_ > 0 ? anchor.scale : 1.0), now_.offset, velocity_);
  before_ = now_;
}

void FleshMotion::prepare(const FleshDynamics& dynamics, double dt_s) noexcept {
  if (steps_.dt_s == dt_s) return;
  steps_ = {.dt_s = dt_s};
  if (dynamics.integrator == FleshIntegrator::Exact) {
    steps_.spring = exactSpringStep(dynamics.spring, dt_s);
    steps_.rotation = exactSpringStep(dynamics.rotation_spring, dt_s);
    steps_.spring_part = exactSpringStep(dynamics.spring, dt_s / kStopSteps);
    steps_.rotation_part = exactSpringStep(dynamics.rotation_spring, dt_s / kStopSteps);
    return;
  }
  const double length = std::min(dt_s, kLongestEuler_s);
  // A step that is the longest one but for rounding stays whole.
  steps_.substeps = std::max(1, static_cast<int>(std::ceil(length / dynamics.euler_step_s - 1e-9)));
  steps_.spring = eulerSpringStep(dynamics.spring, length / steps_.substeps);
  steps_.rotation = eulerSpringStep(dynamics.rotation_spring, length / steps_.substeps);
}

int FleshMotion::partsOfStep(const FleshDynamics& dynamics, const FleshAnchor& anchor,
                             double dt_s) noexcept {
  // What a start makes up for (startLate) is told by steps of equal length.
  if (dynamics.integrator != FleshIntegrator::Exact || known_ < 4 || !usable(anchor)) return 1;
  if (!(dt_s > kPart_s) || !std::isfinite(dt_s)) return 1;
  prepare(dynamics, dt_s);
  const double farthest = dynamics.farthest_m * anchor.scale;
  const Vec3d rest = dynamics.gravity / (dynamics.spring.omega * dynamics.spring.omega);
  const Vec3d change = (anchor.position - position_) / dt_s - anchor_velocity_;
  // A cut in whole is none in parts.
  if (change.norm() * dt_s > leapOf(dynamics, anchor, dt_s)) return 1;
  Vec3d offset = now_.offset, velocity = velocity_ - change;
  bool held_back = isHeldBack(dynamics.spring, farthest, offset, velocity);
  apply(steps_.spring, rest, offset, velocity);
  held_back = held_back || isHeldBack(dynamics.spring, farthest, offset, velocity);
  const bool bent = change.norm() * dt_s / 8 > kBentWay * farthest;
  if (!held_back && !bent) return 1;
  const double longest_s = held_back ? kPart_s : kBentPart_s;
  return static_cast<int>(std::ceil(std::min<double>(dt_s / longest_s, kMaxParts) - 1e-6));
}

void FleshMotion::step(const FleshDynamics& dynamics, const FleshAnchor& anchor, double dt_s,
                       bool goes_on) noexcept {
  if (!goes_on) before_ = now_;
  if (!(dt_s > 0) || !std::isfinite(dt_s) || !usable(anchor)) {
    known_ = 0;
    return;
  }
  prepare(dynamics, dt_s);
  if (known_ > 0) {
    const Vec3d moved = anchor.position - position_;
    const Vec3d unexpected = known_ > 1 ? Vec3d(moved - dt_s * anchor_velocity_) : moved;
    const double leap = leapOf(dynamics, anchor, dt_s);
    // Without a known velocity any first movement is taken for one; a leap is one either way.
    if (unexpected.norm() > leap && known_ > 1) {
      known_ = 0;
    } else {
      const Vec3d velocity = moved / dt_s;
      if (known_ > 1) velocity_ -= velocity - anchor_velocity_;
      if (known_ > 1) startLate(velocity - anchor_velocity_, dt_s);
      anchor_velocity_ = velocity;
    }
  }
  if (dynamics.rotation) turnOn(dynamics, anchor, dt_s, known_ > 1);
  known_ = std::min<std::uint32_t>(known_ + 1, 4);
  position_ = anchor.position;
  const Vec3d rest = dynamics.gravity / (dynamics.spring.omega * dynamics.spring.omega);
  const double farthest = dynamics.farthest_m * anchor.scale;
  if (dynamics.integrator == FleshIntegrator::Exact) {
    limitedStep(dynamics.spring, steps_.spring, steps_.spring_part, dt_s, farthest, rest,
                now_.offset, velocity_);
    return;
  }
  for (int i = 0; i < steps_.substeps; ++i) {
    apply(steps_.spring, rest, now_.offset, velocity_);
    stopAt(farthest, now_.offset, velocity_);
  }
}

/// The speed that a start takes over is that of the middle of the first step: half a step of the
/// anchor's first acceleration is missing. It is made up for as soon as two changes of velocity
/// tell how large it was.
void FleshMotion::startLate(const Vec3d& change, double dt_s) noexcept {
  if (known_ == 3 && dt_s < kLongestStart_s) velocity_ -= 0.5 * (2 * first_change_ - change);
  first_change_ = change;
}

void FleshMotion::turnOn(const FleshDynamics& dynamics, const FleshAnchor& anchor, double dt_s,
                         bool known) noexcept {
  const Vec3d spin = logOf(anchor.orientation * orientation_.conjugate()) / dt_s;
  // The spin changes at the step's beginning: in the axes of that instant.
  if (known) turning_ -= orientation_.conjugate() * Vec3d(spin - spin_);
  spin_ = spin;
  orientation_ = anchor.orientation;
  if (dynamics.integrator == FleshIntegrator::Exact) {
    limitedStep(dynamics.rotation_spring, steps_.rotation, steps_.rotation_part, dt_s,
                dynamics.farthest_turn, Vec3d::Zero(), now_.turn, turning_);
    return;
  }
  for (int i = 0; i < steps_.substeps; ++i) {
    apply(steps_.rotation, Vec3d::Zero(), now_.turn, turning_);
    stopAt(dynamics.farthest_turn, now_.turn, turning_);
  }
}

void FleshMotion::save(StateWriter& out) const {
  for (const Vec3d* v : {&now_.offset, &now_.turn, &before_.offset, &before_.turn, &velocity_,
                         &turning_, &position_, &anchor_velocity_, &first_change_, &spin_})
    out.writeSpan(std::span(v->data(), 3));
  out.writeSpan(std::span(orientation_.coeffs().data(), 4));
  out.write(known_);
}

Result<void> FleshMotion::restore(StateReader& in) {
  for (Vec3d* v : {&now_.offset, &now_.turn, &before_.offset, &before_.turn, &velocity_, &turning_,
                   &position_, &anchor_velocity_, &first_change_, &spin_})
    DERM_CHECK(in.readSpan(std::span(v->data(), 3)));
  DERM_CHECK(in.readSpan(std::span(orientation_.coeffs().data(), 4)));
  return in.read(known_);
}

}  // namespace derm::detail
