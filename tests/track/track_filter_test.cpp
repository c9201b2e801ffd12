#include "derm/track/track_filter.h"

#include <cmath>

#include <gtest/gtest.h>

namespace derm::track_filter_test {
namespace {

PointTracks oneTrack(std::size_t frames, double step_s, double (*at)(double)) {
  PointTracks t;
  t.space = TrackSpace::Picture;
  t.labels = {"9.3"};
  t.neutral = {Vec3d::Zero()};
  double now = 0;
  for (std::size_t f = 0; f < frames; ++f) {
    t.times_s.push_back(now);
    t.positions.push_back(Vec3d(at(now), 2 * at(now), 0));
    now += f % 3 == 0 ? 2 * step_s : step_s;  // uneven, as telephones film
  }
  return t;
}

TEST(ZeroPhase, StraightMotionStaysAtUnevenTimes) {
  PointTracks t = oneTrack(60, 1.0 / 30, [](double s) { return 40 * s - 3; });
  const PointTracks before = t;
  smoothZeroPhase(t, 0.1);
  for (std::size_t i = 0; i < t.positions.size(); ++i)
    EXPECT_LT((t.positions[i] - before.positions[i]).norm(), 1e-9) << i;
}

TEST(ZeroPhase, HalvesAVibrationAtTheStatedFrequencyAndDoesNotDelay) {
  constexpr double kSigma = 0.05;
  PointTracks t;
  t.space = TrackSpace::Picture;
  t.labels = {"9.3"};
  t.neutral = {Vec3d::Zero()};
  const double omega = 2 * M_PI * 0.187 / kSigma;
  for (int f = 0; f < 400; ++f) {
    t.times_s.push_back(f / 240.0);
    t.positions.push_back(Vec3d(std::sin(omega * f / 240.0), 0, 0));
  }
  smoothZeroPhase(t, kSigma);
  for (int f = 100; f < 300; ++f)
    EXPECT_NEAR(t.positions[static_cast<std::size_t>(f)].x(), 0.5 * std::sin(omega * f / 240.0),
                0.005);
}

TEST(ZeroPhase, NothingHappensWithoutWidthAndFarFramesStay) {
  PointTracks t = oneTrack(10, 5.0, [](double s) { return s * s; });
  const PointTracks before = t;
  smoothZeroPhase(t, 0);
  EXPECT_EQ(t.positions, before.positions);
  smoothZeroPhase(t, 0.01);  // far narrower than the frames are apart
  for (std::size_t i = 0; i < t.positions.size(); ++i)
    EXPECT_LT((t.positions[i] - before.positions[i]).norm(), 1e-9);
}

TEST(OneEuro, CalmsWhatRestsAndFollowsWhatMoves) {
  OneEuroFilter filter(1, {});
  double rest = 0;
  std::vector<Vec3d> p(1);
  for (int f = 0; f < 120; ++f) {
    p[0] = Vec3d(f % 2 == 0 ? 0.3 : -0.3, 0, 0);
    filter.step(f / 30.0, p);
    if (f > 30) rest = std::max(rest, std::abs(p[0].x()));
  }
  EXPECT_LT(rest, 0.15);  // half of the trembling
  double lag = 0;
  for (int f = 0; f < 60; ++f) {
    p[0] = Vec3d(20.0 * f, 0, 0);  // 600 px/s
    filter.step(4 + f / 30.0, p);
    lag = 20.0 * f - p[0].x();
  }
  EXPECT_LT(lag, 20);  // less than a frame behind
}

TEST(OneEuro, TimeThatStandsStillChangesNothing) {
  OneEuroFilter filter(1, {});
  std::vector<Vec3d> p = {Vec3d(1, 2, 0)};
  filter.step(0, p);
  p[0] = Vec3d(9, 9, 0);
  filter.step(0, p);
  EXPECT_EQ(p[0], Vec3d(1, 2, 0));
}

}  // namespace
}  // namespace derm::track_filter_test
