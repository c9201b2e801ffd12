#include "derm/math/spring.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::spring_test {
namespace {

using Matrix = std::array<long double, 4>;  // rows

Matrix times(const Matrix& a, const Matrix& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
          a[2] * b[1] + a[3] * b[3]};
}

/// exp(m) by scaling, a series and squaring, in long double.
Matrix exponential(Matrix m) {
  long double size = 0;
  for (const long double e : m) size = std::max(size, std::abs(e));
  int halvings = 0;
  while (size > 0.125L) {
    size /= 2;
    ++halvings;
  }
  for (long double& e : m) e = std::ldexp(e, -halvings);
  Matrix sum = {1, 0, 0, 1}, term = sum;
  for (int n = 1; n < 30; ++n) {
    term = times(term, m);
    for (int i = 0; i < 4; ++i) {
      term[i] /= n;
      sum[i] += term[i];
    }
  }
  for (int i = 0; i < halvings; ++i) sum = times(sum, sum);
  return sum;
}

/// Velocities in units of omega, so that all four entries are of one size.
double largestError(const SpringConstants& s, double dt_s) {
  const long double turn = static_cast<long double>(s.omega) * dt_s;
  const Matrix want = exponential({0, turn, -turn, -2 * turn * s.zeta});
  const SpringStep got = exactSpringStep(s, dt_s);
  return std::max({std::abs(static_cast<double>(got.xx - want[0])),
                   std::abs(static_cast<double>(got.xv * s.omega - want[1])),
                   std::abs(static_cast<double>(got.vx / s.omega - want[2])),
                   std::abs(static_cast<double>(got.vv - want[3]))});
}

TEST(Spring, ExactStepIsTheMatrixExponential) {
  EXPECT_LT(largestError(springConstants(1e4, 2, 0.1), 1.0 / 30), 1e-12);
  Rng rng(1);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const SpringConstants s{std::pow(10.0, rng.uniform(-1, 3)), rng.uniform(0, 3)};
    worst = std::max(worst, largestError(s, rng.uniform(0, 10 / s.omega)));
  }
  EXPECT_LT(worst, 1e-12);
  // Critical damping and its neighbourhood on both sides.
  for (const double off : {0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3})
    for (const double zeta : {1 - off, 1 + off})
      for (const double dt_s : {1e-4, 0.01, 0.3, 2.0})
        EXPECT_LT(largestError({20, zeta}, dt_s), 1e-12) << zeta << " " << dt_s;
}

TEST(Spring, TwoHalvesOfAStepGiveTheWholeOne) {
  Rng rng(2);
  for (int i = 0; i < 2000; ++i) {
    const SpringConstants s{rng.uniform(1, 100), rng.uniform(0, 3)};
    const double dt_s = rng.uniform(0.001, 0.5);
    const SpringStep half = exactSpringStep(s, dt_s / 2), whole = exactSpringStep(s, dt_s);
    EXPECT_NEAR(half.xx * half.xx + half.xv * half.vx, whole.xx, 1e-13);
    EXPECT_NEAR(half.vx * half.xv + half.vv * half.vv, whole.vv, 1e-13);
  }
}

TEST(Spring, NoStepIsTooLong) {
  for (const double zeta : {0.0, 0.1, 1.0, 5.0, 100.0})
    for (const double dt_s : {0.0, 10.0, 1e6, 1e12}) {
      const SpringStep s = exactSpringStep({300, zeta}, dt_s);
      for (const double e : {s.xx, s.xv, s.vx, s.vv}) EXPECT_TRUE(std::isfinite(e));
      EXPECT_LE(std::abs(s.xx), 1 + 1e-12);
    }
  const SpringStep none = exactSpringStep({300, 0.1}, 0);
  EXPECT_EQ(none.xx, 1);
  EXPECT_EQ(none.xv, 0);
  EXPECT_EQ(none.vv, 1);
}

TEST(Spring, MassAndStiffnessGiveFrequencyAndDamping) {
  const SpringConstants s = springConstants(80, 3, 2);
  EXPECT_NEAR(s.omega * s.omega * 2, 80, 1e-12);
  EXPECT_NEAR(2 * s.zeta * s.omega * 2, 3, 1e-12);
}

/// Largest eigenvalue of a step.
double growth(const SpringStep& s) {
  const std::complex<double> half = (s.xx + s.vv) / 2;
  const std::complex<double> root = std::sqrt(half * half - (s.xx * s.vv - s.xv * s.vx));
  return std::max(std::abs(half + root), std::abs(half - root));
}

TEST(Spring, SymplecticEulerIsStableExactlyBelowItsBound) {
  Rng rng(3);
  int stable = 0, mismatches = 0;
  for (int i = 0; i < 20000; ++i) {
    const SpringConstants s{rng.uniform(1, 200), rng.uniform(0, 2)};
    const double dt_s = rng.uniform(0.0005, 0.05);
    const double bound = eulerSpringStepBound(s);
    EXPECT_EQ(eulerSpringIsStable(s, dt_s), dt_s < bound);
    if (std::abs(dt_s / bound - 1) < 1e-9) continue;
    // Run it: what grows is unstable, whatever the algebra says.
    const SpringStep step = eulerSpringStep(s, dt_s);
    const bool grows = growth(step) > 1 + 1e-12;
    mismatches += grows == eulerSpringIsStable(s, dt_s);
    stable += !grows;
    if (i % 20 != 0) continue;
    double x = 1, v = 0, max = 0;
    for (int n = 0; n < 20000 && max < 1e12; ++n) {
      const double next = step.xx * x + step.xv * v;
      v = step.vx * x + step.vv * v;
      x = next;
      max = std::max(max, std::abs(x));
    }
    if (growth(step) > 1.01 || !grows) {
      EXPECT_EQ(max < 1e4, !grows) << s.omega << " " << s.zeta;
    }
  }
  EXPECT_EQ(mismatches, 0);
  EXPECT_GT(stable, 5000);  // both kinds were met
  EXPECT_LT(stable, 18000);
}

/// The anchor of the table in the specification: p = 0.5 sin 4t, k = 80, c = 3, m = 1.
double anchor(double t) { return 0.5 * std::sin(4 * t); }
const SpringConstants kTableSpring = springConstants(80, 3, 1);

/// u(2) with the anchor's acceleration constant over each step, or as velocity jumps.
enum class Rule { Jumps, Acceleration };
double elongationAt2(double dt_s, Rule rule, SpringStep (*make)(const SpringConstants&, double)) {
  const SpringStep s = make(kTableSpring, dt_s);
  double u = 0, v = 0;
  const int steps = static_cast<int>(std::lround(2 / dt_s));
  for (int i = 0; i < steps; ++i) {
    const double t = i * dt_s;
    double rest = 0;
    if (rule == Rule::Jumps) {
      if (i > 0) v -= (anchor(t + dt_s) - 2 * anchor(t) + anchor(t - dt_s)) / dt_s;
    } else {
      const double half = dt_s / 2;
      const double a = (anchor(t + dt_s) - 2 * anchor(t + half) + anchor(t)) / (half * half);
      rest = -a / (kTableSpring.omega * kTableSpring.omega);
    }
    const double x = u - rest;
    u = rest + s.xx * x + s.xv * v;
    v = s.vx * x + s.vv * v;
  }
  return u;
}

TEST(SpringPaper, FrameRatesGiveTheNumbersOfTheSpecification) {
  const std::array<double, 3> steps = {1.0 / 15, 1.0 / 30, 1.0 / 60};
  const std::array<double, 3> acceleration = {0.12492, 0.12538, 0.12549};
  const std::array<double, 3> jumps = {0.12191, 0.12463, 0.12531};
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(elongationAt2(steps[i], Rule::Acceleration, exactSpringStep), acceleration[i],
                6e-6);
    EXPECT_NEAR(elongationAt2(steps[i], Rule::Jumps, exactSpringStep), jumps[i], 6e-6);
  }
  const double fine = elongationAt2(1.0 / 1000, Rule::Acceleration, exactSpringStep);
  EXPECT_NEAR(fine, 0.12553, 6e-6);
  EXPECT_LE(std::abs(elongationAt2(1.0 / 30, Rule::Acceleration, exactSpringStep) - fine), 2e-4);
}

}  // namespace
}  // namespace derm::spring_test
