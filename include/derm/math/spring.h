#pragma once

namespace derm {

/// A damped spring of zero rest length, x'' = -omega^2 x - 2 zeta omega x'.
struct SpringConstants {
  double omega = 1.0;  ///< [rad/s] > 0, of the free swing without damping
  double zeta = 0.0;   ///< >= 0 damping ratio: below 1 it swings, at 1 it returns fastest without
};

/// The constants of a mass on a spring: omega = sqrt(k/m), zeta = c / (2 sqrt(k m)). Requires k > 0
/// [N/m], c >= 0 [N s/m], m > 0 [kg].
SpringConstants springConstants(double stiffness, double damping, double mass_kg);

/// What one step does to the offset x from where the spring would come to rest, and to its
/// velocity v, on each axis alike: x' = xx x + xv v, v' = vx x + vv v. A constant force in the step
/// only moves the position of rest: x = u - F/k.
struct SpringStep {
  double xx = 1, xv = 0;
  double vx = 0, vv = 1;
};

/// The exact solution after dt_s: stable for every dt, and two halves of a step give the whole one.
/// Equal to the matrix exponential to 1e-12; swinging, critical and creeping springs join without a
/// gap (no division by a vanishing frequency), and no number overflows however long the step is.
/// Requires omega > 0, zeta >= 0, dt_s >= 0, all finite.
SpringStep exactSpringStep(const SpringConstants& spring, double dt_s);

/// Symplectic Euler (Larboulette, Cani, Arnaldi 2006, section 2.3.2): v' = v + dt a, x' = x + dt
/// v'. Only stable where eulerSpringIsStable() says so, unlike what the paper claims.
SpringStep eulerSpringStep(const SpringConstants& spring, double dt_s);

/// k dt^2 / m < 4 - 2 c dt / m: exactly then all solutions of eulerSpringStep() die away or
/// (without damping) stay bounded.
bool eulerSpringIsStable(const SpringConstants& spring, double dt_s);

/// [s] the step below which eulerSpringStep() is stable.
double eulerSpringStepBound(const SpringConstants& spring);

}  // namespace derm
