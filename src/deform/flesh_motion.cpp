#include "deform/flesh_motion.h"

#include <algorithm>
#include <cmath>

namespace derm::detail {
namespace {

/// [s] An Euler step longer than this is taken as this long: the spring has come to rest.
constexpr double kLongestEuler_s = 60;

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
    // Without a known velocity any first movement is taken for one; a leap is one either way.
    if (unexpected.norm() > dynamics.cut_m * anchor.scale && known_ > 1) {
      known_ = 0;
    } else {
      const Vec3d velocity = moved / dt_s;
      if (known_ > 1) velocity_ -= velocity - anchor_velocity_;
      anchor_velocity_ = velocity;
    }
  }
  if (dynamics.rotation) turnOn(dynamics, anchor, dt_s, known_ > 1);
  known_ = std::min<std::uint32_t>(known_ + 1, 2);
  position_ = anchor.position;
  const Vec3d rest = dynamics.gravity / (dynamics.spring.omega * dynamics.spring.omega);
  const double farthest = dynamics.farthest_m * anchor.scale;
  for (int i = 0; i < steps_.substeps; ++i) {
    apply(steps_.spring, rest, now_.offset, velocity_);
    stopAt(farthest, now_.offset, velocity_);
  }
}

void FleshMotion::turnOn(const FleshDynamics& dynamics, const FleshAnchor& anchor, double dt_s,
                         bool known) noexcept {
  const Vec3d spin = logOf(anchor.orientation * orientation_.conjugate()) / dt_s;
  if (known) turning_ -= anchor.orientation.conjugate() * Vec3d(spin - spin_);
  spin_ = spin;
  orientation_ = anchor.orientation;
  for (int i = 0; i < steps_.substeps; ++i) {
    apply(steps_.rotation, Vec3d::Zero(), now_.turn, turning_);
    stopAt(dynamics.farthest_turn, now_.turn, turning_);
  }
}

void FleshMotion::save(StateWriter& out) const {
  for (const Vec3d* v : {&now_.offset, &now_.turn, &before_.offset, &before_.turn, &velocity_,
                         &turning_, &position_, &anchor_velocity_, &spin_})
    out.writeSpan(std::span(v->data(), 3));
  out.writeSpan(std::span(orientation_.coeffs().data(), 4));
  out.write(known_);
}

Result<void> FleshMotion::restore(StateReader& in) {
  for (Vec3d* v : {&now_.offset, &now_.turn, &before_.offset, &before_.turn, &velocity_, &turning_,
                   &position_, &anchor_velocity_, &spin_})
    DERM_CHECK(in.readSpan(std::span(v->data(), 3)));
  DERM_CHECK(in.readSpan(std::span(orientation_.coeffs().data(), 4)));
  return in.read(known_);
}

}  // namespace derm::detail
