#pragma once

#include <cstdint>

#include "derm/deform/flesh.h"
#include "derm/deform/state_io.h"

namespace derm::detail {

/// Where the static frame F_s of an element is at one instant.
struct FleshAnchor {
  Vec3d position = Vec3d::Zero();         ///< [m] model space
  Quatd orientation = Quatd::Identity();  ///< only read where the element rotates
  double scale = 1;                       ///< of lengths, against the bind pose
};

/// What drives one element, apart from its motion. Immutable.
struct FleshDynamics {
  SpringConstants spring;
  SpringConstants rotation_spring;
  FleshIntegrator integrator = FleshIntegrator::Exact;
  double euler_step_s = 1.0 / 240;  ///< [s]
  Vec3d gravity = Vec3d::Zero();    ///< [m/s^2]
  double farthest_m = 0;     ///< [m] > 0 the spring goes no further, in the bind pose's scale
  double farthest_turn = 1;  ///< [rad] > 0 the rotation goes no further
  double cut_m = 0;          ///< [m] > 0 a leap of the anchor beyond this, in one step, is a cut
  bool rotation = false;
};

/// The motion of one element: a mass on a damped spring whose other end is the anchor. Knows
/// nothing of vertices.
///
/// The anchor moves straight between two steps, so that what it does to the mass is a jump of
/// their relative velocity at the beginning of each step; the rest of the step is exact. Rotation
/// obeys the same equation for the rotation vector from F_s to F_d in F_s's axes (small angles).
/// Near farthest_m its speed outwards is at most in proportion to the way that is left; what leads
/// along the limit stays. Velocity beyond what a free swing could have is braked: a mass that a
/// jerk of the bone throws would whirl round its limit. The error falls with the square of the
/// step, and where the limit is met with the length of the parts that partsOfStep() asks for. A cut
/// (the anchor leaps where its velocity does not lead) keeps elongation and velocity and forgets
/// the anchor's past: it causes no motion.
class FleshMotion {
 public:
  /// At rest at this anchor: hanging where gravity pulls, moving with the anchor whatever speed it
  /// turns out to have.
  void reset(const FleshDynamics& dynamics, const FleshAnchor& anchor) noexcept;
  /// Moves on by dt_s; `goes_on`: the same inner step goes on. A dt that is not a positive number,
  /// or an anchor that is not finite, changes nothing but that the anchor's past is forgotten.
  void step(const FleshDynamics& dynamics, const FleshAnchor& anchor, double dt_s,
            bool goes_on = false) noexcept;
  /// Into how many parts such a step should be divided, with the anchor known at each: where it
  /// meets the limit, or the anchor's way is far from straight.
  int partsOfStep(const FleshDynamics& dynamics, const FleshAnchor& anchor, double dt_s) noexcept;

  /// [m] from F_s to F_d in model space, `fraction` of the way through the last step.
  Vec3d elongation(double fraction) const { return mix(before_.offset, now_.offset, fraction); }
  /// [rad] rotation vector from F_s to F_d in F_s's axes.
  Vec3d rotation(double fraction) const { return mix(before_.turn, now_.turn, fraction); }
  Vec3d velocity() const { return velocity_; }  ///< [m/s] of F_d against F_s

  /// The dynamics are other ones from now on.
  void forgetSteps() { steps_ = {}; }

  void save(StateWriter& out) const;
  Result<void> restore(StateReader& in);

 private:
  struct Shown {
    Vec3d offset = Vec3d::Zero();
    Vec3d turn = Vec3d::Zero();
  };
  static Vec3d mix(const Vec3d& a, const Vec3d& b, double t) { return a + t * (b - a); }
  /// The two springs' coefficients for the dt last used.
  struct Coefficients {
    double dt_s = 0;
    int substeps = 1;
    SpringStep spring;
    SpringStep rotation;
    SpringStep spring_part, rotation_part;  ///< for steps that meet the limit
  };
  void prepare(const FleshDynamics& dynamics, double dt_s) noexcept;
  void startLate(const Vec3d& change, double dt_s) noexcept;
  void turnOn(const FleshDynamics& dynamics, const FleshAnchor& anchor, double dt_s,
              bool known) noexcept;

  Shown now_;
  Shown before_;
  Vec3d velocity_ = Vec3d::Zero();
  Vec3d turning_ = Vec3d::Zero();   ///< [rad/s] of `turn`
  Vec3d position_ = Vec3d::Zero();  ///< of the anchor after the last step
  Vec3d anchor_velocity_ = Vec3d::Zero();
  Quatd orientation_ = Quatd::Identity();
  Vec3d spin_ = Vec3d::Zero();          ///< [rad/s] of the anchor in model space
  Vec3d first_change_ = Vec3d::Zero();  ///< [m/s] of the anchor's velocity, the last one
  /// Of the anchor: 0 nothing, 1 its position, 2 its velocity too, 3 and 4 one and more changes.
  std::uint32_t known_ = 0;
  Coefficients steps_;  ///< no state: follows from the dynamics and dt
};

}  // namespace derm::detail
