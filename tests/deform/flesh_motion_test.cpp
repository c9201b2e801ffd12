#include "deform/flesh_motion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace derm::flesh_motion_test {
namespace {

detail::FleshDynamics dynamics(double frequency_hz = 3, double damping_ratio = 0.15) {
  detail::FleshDynamics d;
  d.spring = d.rotation_spring = {6.283185307179586 * frequency_hz, damping_ratio};
  d.farthest_m = 1e3;
  d.cut_m = 1e3;
  return d;
}

detail::FleshAnchor at(const Vec3d& position) { return {.position = position}; }

TEST(FleshMotion, FollowsASineAsTheSpecificationSays) {
  detail::FleshDynamics d = dynamics();
  d.spring = springConstants(80, 3, 1);
  const auto run = [&](double dt_s) {
    detail::FleshMotion m;
    const auto position = [](double t) { return at({0.5 * std::sin(4 * t), 0, 0}); };
    m.reset(d, position(0));
    const int steps = static_cast<int>(std::lround(2 / dt_s));
    for (int i = 1; i <= steps; ++i) m.step(d, position(i * dt_s), dt_s);
    return m.elongation(1).x();
  };
  EXPECT_NEAR(run(1.0 / 15), 0.12191, 6e-6);
  EXPECT_NEAR(run(1.0 / 30), 0.12463, 6e-6);
  EXPECT_NEAR(run(1.0 / 60), 0.12531, 6e-6);
  EXPECT_NEAR(run(1.0 / 1000), 0.12553, 6e-6);
  // On the inner grid that playing uses, whatever the frame rate.
  EXPECT_LE(std::abs(run(1.0 / 240) - run(1.0 / 1000)), 2e-5);
}

TEST(FleshMotion, KeepsStillOnASteadyAnchorFromTheFirstStepOn) {
  const detail::FleshDynamics d = dynamics();
  detail::FleshMotion m;
  const Vec3d velocity(7, -3, 20);
  m.reset(d, at(Vec3d::Zero()));
  for (int i = 1; i <= 500; ++i) {
    m.step(d, at(velocity * (i / 240.0)), 1.0 / 240);
    ASSERT_LT(m.elongation(1).norm(), 1e-11);
  }
}

TEST(FleshMotion, HangsAtRestAndComesBackToItWhenShaken) {
  detail::FleshDynamics d = dynamics();
  d.gravity = Vec3d(0, -9.81, 0);
  const Vec3d sag = d.gravity / (d.spring.omega * d.spring.omega);
  detail::FleshMotion m;
  m.reset(d, at(Vec3d::Zero()));
  EXPECT_LT((m.elongation(1) - sag).norm(), 1e-15);
  for (int i = 0; i < 3; ++i) m.step(d, at(Vec3d(0.1 * i * i, 0, 0)), 1.0 / 240);
  EXPECT_GT((m.elongation(1) - sag).norm(), 0.01);
  for (int i = 0; i < 240 * 20; ++i) m.step(d, at(Vec3d(0.4, 0, 0)), 1.0 / 240);
  EXPECT_LT((m.elongation(1) - sag).norm(), 1e-9);
}

TEST(FleshMotion, GoesNoFurtherThanItMayAndTurnsBackAtOnce) {
  detail::FleshDynamics d = dynamics(2, 0.0);
  d.farthest_m = 0.05;
  detail::FleshMotion m;
  m.reset(d, at(Vec3d::Zero()));
  double p = 0, speed = 0;
  for (int i = 0; i < 48; ++i) {
    speed += 0.5;
    p += speed / 240;
    m.step(d, at({p, 0, 0}), 1.0 / 240);
    EXPECT_LE(m.elongation(1).norm(), 0.05 * (1 + 1e-12));
  }
  EXPECT_LE(m.velocity().dot(m.elongation(1)), 1e-12);  // nothing outward is left to wind up
  for (int i = 0; i < 12; ++i) {
    p += speed / 240;
    m.step(d, at({p, 0, 0}), 1.0 / 240);
  }
  EXPECT_LT(m.elongation(1).norm(), 0.05);
}

/// Elongation of a mass whose anchor goes fast round a wobbling circle: pressed against its limit
/// and sliding along it, with times when it is free.
std::vector<Vec3d> spun(double rate_hz) {
  detail::FleshDynamics d = dynamics();
  d.farthest_m = 0.06;
  const auto position = [](double t) {
    const double turn = 9 * t + std::sin(3 * t), reach = 0.3 + 0.1 * std::sin(11 * t);
    return at({reach * std::cos(turn), 0.05 * std::sin(5 * t), reach * std::sin(turn)});
  };
  detail::FleshMotion m;
  m.reset(d, position(0));
  std::vector<Vec3d> out;
  const int every = static_cast<int>(std::lround(rate_hz / 60));
  for (int i = 1; i <= static_cast<int>(std::lround(3 * rate_hz)); ++i) {
    m.step(d, position(i / rate_hz), 1 / rate_hz);
    if (i % every == 0) out.push_back(m.elongation(1));
  }
  return out;
}

TEST(FleshMotion, TheInnerStepIsNearTheLimitOfSmallOnesWhereItSpinsAgainstItsLimit) {
  const std::vector<Vec3d> fine = spun(15360);
  const auto error = [&](double rate_hz) {
    const std::vector<Vec3d> coarse = spun(rate_hz);
    double largest = 0;
    for (std::size_t i = 0; i < fine.size(); ++i)
      largest = std::max(largest, (coarse[i] - fine[i]).norm());
    return largest;
  };
  double longest = 0;
  for (const Vec3d& u : fine) longest = std::max(longest, u.norm());
  EXPECT_LE(longest, 0.06 * (1 + 1e-12));  // the limit is met
  EXPECT_GE(longest, 0.0599);
  EXPECT_LE(error(240), 0.02 * longest);  // a quarter of it, with the limit met at steps' ends
  EXPECT_LE(error(960), error(240) / 4);
}

/// The same mass, played as Playback does: steps in as many parts as they ask for.
template <class Position>
std::vector<Vec3d> playedInParts(const detail::FleshDynamics& d, double rate_hz, double end_s,
                                 const Position& position) {
  detail::FleshMotion m;
  m.reset(d, at(position(0)));
  std::vector<Vec3d> out;
  const double dt_s = 1 / rate_hz;
  const int every = static_cast<int>(std::lround(rate_hz / 240));
  for (int i = 1; i <= static_cast<int>(std::lround(end_s * rate_hz)); ++i) {
    const int parts = m.partsOfStep(d, at(position(i * dt_s)), dt_s);
    for (int k = 1; k <= parts; ++k)
      m.step(d, at(position((i - 1 + double(k) / parts) * dt_s)), dt_s / parts, k > 1);
    if (i % every == 0) out.push_back(m.elongation(1));
  }
  return out;
}

/// A thigh that turns over between two keys of a recording 1/60 s apart, from 0.2 s on.
Vec3d jerk(double t) {
  const double turn = 2.6 * std::clamp((t - 0.2) * 60, 0.0, 1.0);
  return Vec3d(0.2 * std::sin(turn) + 0.5 * t, -0.2 * std::cos(turn), 0.03 * std::sin(6 * t));
}

TEST(FleshMotion, AMassThatAJerkThrowsMovesAlikeAtAllInnerRates) {
  detail::FleshDynamics d = dynamics(5, 0.2);
  d.farthest_m = 0.09;
  const std::vector<Vec3d> fine = playedInParts(d, 1920, 1, jerk);
  double longest = 0;
  for (const Vec3d& u : fine) longest = std::max(longest, u.norm());
  EXPECT_GT(longest, 0.089);
  for (const double rate_hz : {240.0, 480.0, 960.0}) {
    const std::vector<Vec3d> coarse = playedInParts(d, rate_hz, 1, jerk);
    ASSERT_EQ(coarse.size(), fine.size());
    for (std::size_t i = 0; i < fine.size(); ++i)
      ASSERT_LE((coarse[i] - fine[i]).norm(), 0.01 * longest) << rate_hz << " " << i;
  }
}

TEST(FleshMotion, AMassThatAJerkThrowsDoesNotWhirlRoundItsLimit) {
  detail::FleshDynamics d = dynamics(5, 0.2);
  d.farthest_m = 0.09;
  detail::FleshMotion m;
  m.reset(d, at(jerk(0)));
  for (int i = 1; i <= 240; ++i) {
    m.step(d, at(jerk(i / 240.0)), 1.0 / 240);
    // 20 ms after the bone stands still: no faster than a swing from the limit, but for a little.
    if (i / 240.0 > 0.2 + 1.0 / 60 + 0.02) {
      ASSERT_LE(m.velocity().norm(), 1.6 * d.spring.omega * d.farthest_m) << i;
    }
  }
}

TEST(FleshMotion, WhetherAJerkComesJustBeforeTheLimitIsMetOrJustAfterMattersLittle) {
  detail::FleshDynamics d = dynamics(1, 0.2);
  d.farthest_m = 0.05;
  // The mass is thrown forwards at 0.1 s, meets the limit 0.05 s later; then the bone catches up.
  const auto elongationAfter = [&](double jerk_s) {
    const auto position = [&](double t) {
      return Vec3d(-std::max(0.0, t - 0.1) + 1.6 * std::max(0.0, t - jerk_s), 0, 0);
    };
    return playedInParts(d, 1920, 0.3, position);
  };
  for (double jerk_s = 0.14; jerk_s < 0.17; jerk_s += 0.001) {
    const std::vector<Vec3d> a = elongationAfter(jerk_s), b = elongationAfter(jerk_s + 0.001);
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_LE((a[i] - b[i]).norm(), 0.1 * d.farthest_m) << jerk_s;
  }
}

TEST(FleshMotion, PartsOfAStepAreOneStepForFramesBetween) {
  const detail::FleshDynamics d = dynamics();
  detail::FleshMotion m;
  const auto position = [](double t) { return at(Vec3d(0.2 * std::sin(20 * t), 0, 0)); };
  m.reset(d, position(0));
  for (int i = 1; i <= 20; ++i) m.step(d, position(i / 240.0), 1.0 / 240);
  const Vec3d before = m.elongation(1);
  for (int k = 1; k <= 4; ++k) m.step(d, position((20 + k / 4.0) / 240), 1.0 / 960, k > 1);
  EXPECT_EQ(m.elongation(0), before);
  EXPECT_NE(m.elongation(1), before);
}

TEST(FleshMotion, CalmStepsAreTakenWhole) {
  detail::FleshDynamics d = dynamics();
  d.farthest_m = 0.06;
  detail::FleshMotion m;
  const auto position = [](int i) { return at(Vec3d(0.05 * std::sin(0.02 * i), 0, 0)); };
  m.reset(d, position(0));
  for (int i = 1; i <= 960; ++i) {
    ASSERT_EQ(m.partsOfStep(d, position(i), 1.0 / 240), 1) << i;
    m.step(d, position(i), 1.0 / 240);
  }
}

TEST(FleshMotion, StepsThatAreNoStepsChangeNothing) {
  const detail::FleshDynamics d = dynamics();
  detail::FleshMotion m;
  m.reset(d, at(Vec3d::Zero()));
  for (int i = 1; i < 20; ++i) m.step(d, at(Vec3d(0.002 * i * i, 0, 0)), 1.0 / 240);
  const Vec3d u = m.elongation(1);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double dt_s : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
    m.step(d, at(Vec3d(9, 9, 9)), dt_s);
    EXPECT_EQ(m.elongation(1), u);
    EXPECT_EQ(m.elongation(0), u);
  }
  m.step(d, at(Vec3d(nan, 0, 0)), 0.01);
  EXPECT_EQ(m.elongation(1), u);
}

TEST(FleshMotion, TenSecondsInOneStepBringItToRest) {
  for (const FleshIntegrator integrator : {FleshIntegrator::Exact, FleshIntegrator::Euler}) {
    detail::FleshDynamics d = dynamics();
    d.integrator = integrator;
    detail::FleshMotion m;
    m.reset(d, at(Vec3d::Zero()));
    for (int i = 1; i < 20; ++i) m.step(d, at(Vec3d(0.002 * i * i, 0, 0)), 1.0 / 240);
    EXPECT_GT(m.elongation(1).norm(), 0.01);
    m.step(d, at(Vec3d(0.8, 0, 0)), 10);
    EXPECT_LT(m.elongation(1).norm(), 1e-6);
  }
}

TEST(FleshMotion, ALeapOfTheAnchorCausesNoMotion) {
  detail::FleshDynamics d = dynamics();
  d.cut_m = 0.5;
  detail::FleshMotion straight, leaping;
  const auto position = [](int i) { return Vec3d(0.05 * std::sin(0.1 * i), 0, 0); };
  straight.reset(d, at(position(0)));
  leaping.reset(d, at(position(0)));
  double largest = 0;
  for (int i = 1; i < 400; ++i) {
    straight.step(d, at(position(i)), 1.0 / 240);
    leaping.step(d, at(position(i) + (i >= 200 ? Vec3d(10, 3, -4) : Vec3d(0, 0, 0))), 1.0 / 240);
    largest = std::max(largest, straight.elongation(1).norm());
    // Two steps' worth of the anchor's acceleration goes unseen, no more.
    EXPECT_LT((leaping.elongation(1) - straight.elongation(1)).norm(), 0.1 * largest + 1e-12) << i;
  }
}

TEST(FleshMotion, EulerTakesShortStepsOfItsOwn) {
  detail::FleshDynamics exact = dynamics(), euler = dynamics();
  euler.integrator = FleshIntegrator::Euler;
  euler.euler_step_s = 1.0 / 24000;
  detail::FleshMotion a, b;
  a.reset(exact, at(Vec3d::Zero()));
  b.reset(euler, at(Vec3d::Zero()));
  for (int i = 1; i < 480; ++i) {
    const detail::FleshAnchor p = at(Vec3d(0.3 * std::sin(0.03 * i), 0.1 * std::cos(0.05 * i), 0));
    a.step(exact, p, 1.0 / 240);
    b.step(euler, p, 1.0 / 240);
    EXPECT_LT((a.elongation(1) - b.elongation(1)).norm(), 5e-4);
  }
}

TEST(FleshMotion, TurnsAgainstAnAcceleratedTwistInTheFramesOwnAxes) {
  detail::FleshDynamics d = dynamics();
  d.rotation = true;
  const auto turned = [](double angle) {
    return detail::FleshAnchor{.orientation =
                                   Quatd(Eigen::AngleAxisd(angle, Eigen::Vector3d::UnitY()))};
  };
  detail::FleshMotion m;
  m.reset(d, turned(0));
  for (int i = 1; i <= 240; ++i) {
    m.step(d, turned(3.0 * i / 240), 1.0 / 240);  // steady
    ASSERT_LT(m.rotation(1).norm(), 1e-9);
  }
  double angle = 3, speed = 3;
  for (int i = 1; i <= 24; ++i) {
    speed += 0.2;
    angle += speed / 240;
    m.step(d, turned(angle), 1.0 / 240);
  }
  EXPECT_LT(m.rotation(1).y(), -0.02);  // it lags
  EXPECT_LT(std::abs(m.rotation(1).x()) + std::abs(m.rotation(1).z()), 1e-9);
}

TEST(FleshMotion, SavedAndRestoredItGoesOnWithTheSameBits) {
  detail::FleshDynamics d = dynamics();
  d.rotation = true;
  const auto anchor = [](int i) {
    return detail::FleshAnchor{
        .position = Vec3d(std::sin(0.1 * i), 0, std::cos(0.07 * i)),
        .orientation = Quatd(Eigen::AngleAxisd(0.02 * i, Eigen::Vector3d::UnitX()))};
  };
  detail::FleshMotion m, other;
  m.reset(d, anchor(0));
  for (int i = 1; i < 50; ++i) m.step(d, anchor(i), 1.0 / 240);
  StateWriter saved;
  m.save(saved);
  StateReader reader(saved.bytes());
  ASSERT_TRUE(other.restore(reader));
  EXPECT_TRUE(reader.atEnd());
  for (int i = 50; i < 90; ++i) {
    m.step(d, anchor(i), 1.0 / 240);
    other.step(d, anchor(i), 1.0 / 240);
  }
  EXPECT_EQ(m.elongation(1), other.elongation(1));
  EXPECT_EQ(m.rotation(0.5), other.rotation(0.5));
  StateReader short_reader(std::span(saved.bytes()).first(100));
  EXPECT_FALSE(other.restore(short_reader));
}

}  // namespace
}  // namespace derm::flesh_motion_test
