#include "derm/math/spring.h"

#include <cmath>

#include "derm/base/assert.h"

namespace derm {
namespace {

/// exp(-zeta omega t) times cosine and sine / frequency of the damped swing, or their hyperbolic
/// kin.
struct Decay {
  double c = 1;
  double s = 0;
};

/// sin(x) / x, where the quotient would lose its digits too.
double sinc(double x) {
  if (std::abs(x) > 1e-4) return std::sin(x) / x;
  return 1 - x * x / 6;  // the next term is below 1e-18
}

Decay swinging(const SpringConstants& spring, double dt_s) {
  const double frequency = spring.omega * std::sqrt((1 - spring.zeta) * (1 + spring.zeta));
  const double decay = std::exp(-spring.zeta * spring.omega * dt_s);
  return {decay * std::cos(frequency * dt_s), decay * dt_s * sinc(frequency * dt_s)};
}

/// The exponentials are combined before they are added: cosh alone would overflow.
Decay creeping(const SpringConstants& spring, double dt_s) {
  const double root = std::sqrt((spring.zeta - 1) * (spring.zeta + 1));
  const double rate = spring.omega * root;
  // omega (zeta - root), without the cancellation.
  const double slow = std::exp(-spring.omega / (spring.zeta + root) * dt_s);
  const double twice = 2 * rate * dt_s;
  const double share = twice > 0 ? -std::expm1(-twice) / twice : 1.0;
  return {slow * (1 + std::exp(-twice)) / 2, slow * dt_s * share};
}

}  // namespace

SpringConstants springConstants(double stiffness, double damping, double mass_kg) {
  const double omega = std::sqrt(stiffness / mass_kg);
  return {omega, damping / (2 * mass_kg * omega)};
}

SpringStep exactSpringStep(const SpringConstants& spring, double dt_s) {
  DERM_ASSERT(spring.omega > 0 && spring.zeta >= 0 && dt_s >= 0);
  const Decay d = spring.zeta < 1 ? swinging(spring, dt_s) : creeping(spring, dt_s);
  const double pull = spring.zeta * spring.omega * d.s;
  return {d.c + pull, d.s, -spring.omega * spring.omega * d.s, d.c - pull};
}

SpringStep eulerSpringStep(const SpringConstants& spring, double dt_s) {
  const double vx = -dt_s * spring.omega * spring.omega;
  const double vv = 1 - dt_s * 2 * spring.zeta * spring.omega;
  return {1 + dt_s * vx, dt_s * vv, vx, vv};
}

bool eulerSpringIsStable(const SpringConstants& spring, double dt_s) {
  const double turn = spring.omega * dt_s;
  return turn * turn < 4 - 4 * spring.zeta * turn;
}

double eulerSpringStepBound(const SpringConstants& spring) {
  // The positive root of x^2 + 4 zeta x = 4, written without cancellation.
  return 2 / (spring.zeta + std::sqrt(spring.zeta * spring.zeta + 1)) / spring.omega;
}

}  // namespace derm
