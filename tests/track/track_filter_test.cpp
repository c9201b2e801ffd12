#include "derm/track/track_filter.h"

#include <array>
#include <cmath>
#include <span>

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

/// Two eyes of a picture, 10 px open; per frame how much of that each has.
PointTracks eyesOf(std::span<const std::array<double, 2>> open) {
  PointTracks out;
  out.space = TrackSpace::Picture;
  out.labels = {"3.1", "3.3", "3.2", "3.4"};
  out.neutral = {{20, 0, 0}, {20, 10, 0}, {-20, 0, 0}, {-20, 10, 0}};
  for (std::size_t f = 0; f < open.size(); ++f) {
    out.times_s.push_back(static_cast<double>(f) / 30);
    for (std::size_t eye = 0; eye < 2; ++eye) {
      const Vec3d& lower = out.neutral[2 * eye + 1];
      out.positions.push_back(lower - Vec3d(0, 10 * open[f][eye], 0));
      out.positions.push_back(lower);
    }
  }
  out.confidence.assign(out.positions.size(), 1.0f);
  return out;
}

double openOf(const PointTracks& tracks, std::size_t frame, std::size_t eye) {
  return (tracks.frame(frame)[2 * eye + 1].y() - tracks.frame(frame)[2 * eye].y()) / 10;
}

TEST(CalibrateLids, TheSmallestGapOfAFilmIsAShutEye) {
  const std::array<std::array<double, 2>, 6> open = {
      {{1, 1}, {0.7, 0.9}, {0.15, 0.6}, {0.15, 0.5}, {0.4, 0.8}, {1.1, 1}}};
  PointTracks tracks = eyesOf(open);
  const LidCalibrations found = calibrateLids(tracks);
  EXPECT_TRUE(found.left.shut);
  EXPECT_NEAR(found.left.smallest, 0.15, 1e-12);
  EXPECT_NEAR(openOf(tracks, 2, 0), 0, 1e-12);
  EXPECT_NEAR(openOf(tracks, 4, 0), 0.25, 1e-12);
  EXPECT_EQ(openOf(tracks, 0, 0), 1);
  EXPECT_NEAR(openOf(tracks, 5, 0), 1.1, 1e-12);
  for (std::size_t f = 0; f + 1 < open.size(); ++f)  // order is kept
    EXPECT_EQ(openOf(tracks, f, 0) < openOf(tracks, f + 1, 0), open[f][0] < open[f + 1][0]) << f;
  // An eye that stays open is left alone.
  EXPECT_FALSE(found.right.shut);
  for (std::size_t f = 0; f < open.size(); ++f)
    EXPECT_NEAR(openOf(tracks, f, 1), open[f][1], 1e-12);
}

TEST(CalibrateLids, AnEyeThatIsCoveredDoesAsTheOther) {
  const std::array<std::array<double, 2>, 6> open = {
      {{1, 1}, {0.5, 0.5}, {1, 0.02}, {1, 0.02}, {0.5, 0.5}, {1, 1}}};
  PointTracks tracks = eyesOf(open);
  for (const std::size_t frame : {2, 3}) tracks.confidence[4 * frame] = 0;
  const LidCalibrations found = calibrateLids(tracks);
  EXPECT_EQ(found.left.filled_frames, 2u);
  EXPECT_EQ(found.right.filled_frames, 0u);
  EXPECT_NEAR(openOf(tracks, 2, 0), 0.02, 0.021);
  EXPECT_NEAR(openOf(tracks, 3, 0), 0.02, 0.021);
  // To the end of a film nobody knows what it is off by.
  PointTracks gone = eyesOf(open);
  for (std::size_t f = 2; f < 6; ++f) gone.confidence[4 * f] = 0;
  EXPECT_EQ(calibrateLids(gone).left.filled_frames, 0u);
}

TEST(CalibrateLids, TracksWithoutLidsStay) {
  PointTracks tracks;
  tracks.labels = {"9.3"};
  tracks.neutral = {{1, 2, 0}};
  tracks.times_s = {0};
  tracks.positions = {{1, 2, 0}};
  const PointTracks before = tracks;
  EXPECT_FALSE(calibrateLids(tracks).left.shut);
  EXPECT_EQ(tracks.positions, before.positions);
}

}  // namespace
}  // namespace derm::track_filter_test
