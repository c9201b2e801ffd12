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
/// Of the step: how well the instant is known at which the limit is met.
constexpr double kMeeting = 1e-7;
constexpr int kMaxMeetingSteps = 24;
constexpr int kWallSteps = 8;
/// [s] Longer steps tell too little of how the anchor's acceleration begins.
constexpr double kLongestStart_s = 1.0 / 59;

/// The rotation vector of a unit quaternion, the shorter way.
Vec3d logOf(const Quatd& q) {
  const Vec3d v = q.w() < 0 ? Vec3d(-q.vec()) : Vec3d(q.vec());
  const double sine = v.norm();
  if (sine < 1e-9) return 2 * v;
  return v * (2 * std::atan2(sine, std::abs(q.w())) / sine);
}

/// Cuts a vector to a length and takes its outward velocity away there: otherwise it would wind up.
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

/// [s] into the step at which the free motion, inside now and outside after dt_s, meets the limit.
/// Regula falsi, with the end that stays halved so that both close in.
double meetingTime(const SpringConstants& spring, double dt_s, double farthest, const Vec3d& rest,
                   const Vec3d& offset, const Vec3d& velocity, double excess_after) {
  double low = 0, high = dt_s;
  double below = offset.norm() - farthest, above = excess_after;
  for (int i = 0; i < kMaxMeetingSteps && high - low > kMeeting * dt_s; ++i) {
    const double t = std::clamp(low + (high - low) * (below / (below - above)),
                                low + 0.01 * (high - low), high - 0.01 * (high - low));
    Vec3d x = offset, v = velocity;
    apply(exactSpringStep(spring, t), rest, x, v);
    const double excess = x.norm() - farthest;
    if (excess > 0) {
      high = t;
      above = excess;
      below /= 2;
    } else {
      low = t;
      below = excess;
      above /= 2;
    }
    if (std::abs(excess) < 1e-12 * farthest) return t;
  }
  return 0.5 * (low + high);
}

/// A step of a mass that is held within `farthest` of the anchor as by a smooth wall: it stops
/// where it meets the wall, slides along it while it is pressed against it, and leaves it freely.
/// Second order: the instant of meeting is found, and the wall's push, along its normal at the
/// step's beginning, is the one that ends on the wall (Ryckaert, Ciccotti, Berendsen 1977).
void wallStep(const SpringConstants& spring, const SpringStep& whole, double dt_s, double farthest,
              const Vec3d& rest, Vec3d& offset, Vec3d& velocity) {
  Vec3d end = offset, end_velocity = velocity;
  apply(whole, rest, end, end_velocity);
  const double excess = end.norm() - farthest;
  if (!(excess > 0)) {
    offset = end;
    velocity = end_velocity;
    return;
  }
  SpringStep left = whole;
  if (offset.norm() < farthest * (1 - 1e-9)) {
    const double t = meetingTime(spring, dt_s, farthest, rest, offset, velocity, excess);
    apply(exactSpringStep(spring, t), rest, offset, velocity);
    const Vec3d outward = offset.normalized();
    velocity -= std::max(0.0, velocity.dot(outward)) * outward;
    left = exactSpringStep(spring, dt_s - t);
  }
  const Vec3d normal = offset.normalized();
  offset = normal * farthest;
  apply(left, rest, offset, velocity);
  const double along = offset.dot(normal);
  const double under = along * along - offset.squaredNorm() + farthest * farthest;
  if (offset.norm() > farthest && along > 0 && under > 0 && left.xv > 0) {
    const double push = along - std::sqrt(under);
    offset -= push * normal;
    velocity -= push / left.xv * left.vv * normal;
  }
  stopAt(farthest, offset, velocity);
}

/// The same; a step that meets the wall is taken in kWallSteps, since sliding turns fast.
void limitedStep(const SpringConstants& spring, const SpringStep& whole, const SpringStep& part,
                 double dt_s, double farthest, const Vec3d& rest, Vec3d& offset, Vec3d& velocity) {
  Vec3d end = offset, end_velocity = velocity;
  apply(whole, rest, end, end_velocity);
  if (end.norm() <= farthest) {
    offset = end;
    velocity = end_velocity;
    return;
  }
  for (int i = 0; i < kWallSteps; ++i)
    wallStep(spring, part, dt_s / kWallSteps, farthest, rest, offset, velocity);
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
    steps_.spring_part = exactSpringStep(dynamics.spring, dt_s / kWallSteps);
    steps_.rotation_part = exactSpringStep(dynamics.rotation_spring, dt_s / kWallSteps);
    return;
  }
  const double length = std::min(dt_s, kLongestEuler_s);
  // A step that is the longest one but for rounding stays whole.
  steps_.substeps = std::max(1, static_cast<int>(std::ceil(length / dynamics.euler_step_s - 1e-9)));
  steps_.spring = eulerSpringStep(dynamics.spring, length / steps_.substeps);
  steps_.rotation = eulerSpringStep(dynamics.rotation_spring, length / steps_.substeps);
}

void FleshMotion::step(const FleshDynamics& dynamics, const FleshAnchor& anchor,
                       double dt_s) noexcept {
  before_ = now_;
  if (!(dt_s > 0) || !std::isfinite(dt_s) || !usable(anchor)) {
    known_ = 0;
    return;
  }
  prepare(dynamics, dt_s);
  if (known_ > 0) {
    const Vec3d moved = anchor.position - position_;
    const Vec3d unexpected = known_ > 1 ? Vec3d(moved - dt_s * anchor_velocity_) : moved;
    const double leap = dynamics.cut_m * anchor.scale * std::min(1.0, dt_s / kCutStep_s);
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
