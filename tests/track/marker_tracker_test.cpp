#include "derm/track/marker_tracker.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::marker_tracker_test {
namespace {

/// Dark discs on a ground of blotches that move together by (dx, dy).
Grey8Image dots(const std::vector<Marker>& markers, double dx, double dy, int width = 200,
                int height = 160) {
  Grey8Image out(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double u = x - dx, v = y - dy;
      double value = 150 + 10 * std::sin(0.21 * u) * std::cos(0.17 * v) + 6 * std::sin(0.5 * v);
      for (const Marker& m : markers) {
        const double d = std::hypot(u - m.position.x(), v - m.position.y());
        value += std::clamp(4.5 - d, 0.0, 1.0) * (40 - value);
      }
      out.pixels[static_cast<std::size_t>(y * width + x)] = static_cast<std::uint8_t>(value + 0.5);
    }
  return out;
}

std::vector<Marker> grid() {
  std::vector<Marker> out;
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x)
      out.push_back({"m" + std::to_string(4 * y + x), Vec3d(50 + 30 * x, 40 + 35 * y, 0)});
  return out;
}

TEST(MarkerTracker, FollowsWithinATwentiethOfAPixel) {
  const std::vector<Marker> markers = grid();
  auto tracker = MarkerTracker::start(dots(markers, 0, 0), 0, markers);
  ASSERT_TRUE(tracker.ok()) << tracker.error().text();
  for (int f = 1; f <= 12; ++f) {
    const auto more = tracker->add(dots(markers, 1.3 * f, -0.7 * f), f / 30.0);
    ASSERT_TRUE(more.ok() && *more);
  }
  const PointTracks t = tracker->tracks();
  ASSERT_TRUE(validate(t, "tracks").ok());
  EXPECT_EQ(t.space, TrackSpace::Picture);
  for (std::size_t f = 0; f < t.frames(); ++f)
    for (std::size_t i = 0; i < markers.size(); ++i) {
      const double n = static_cast<double>(f);
      const Vec3d truth = markers[i].position + Vec3d(1.3 * n, -0.7 * n, 0);
      EXPECT_LT((t.frame(f)[i] - truth).norm(), 0.05);
      EXPECT_GT(t.confidence[f * markers.size() + i], 0.95f);
    }
  EXPECT_GT(tracker->seconds(), tracker->librarySeconds());
}

TEST(MarkerTracker, CoveredMarkerIsNotSeenGoesWithTheOthersAndIsFoundAgain) {
  const std::vector<Marker> markers = grid();
  auto tracker = MarkerTracker::start(dots(markers, 0, 0), 0, markers);
  ASSERT_TRUE(tracker.ok());
  for (int f = 1; f <= 14; ++f) {
    std::vector<Marker> shown = markers;
    if (f >= 4 && f < 9) shown.erase(shown.begin() + 5);  // as if skin had been laid over it
    const auto more = tracker->add(dots(shown, 2.0 * f, 0.5 * f), f / 30.0);
    ASSERT_TRUE(more.ok() && *more);
  }
  const PointTracks t = tracker->tracks();
  for (std::size_t f = 0; f < t.frames(); ++f) {
    const float confidence = t.confidence[f * markers.size() + 5];
    const double n = static_cast<double>(f);
    const bool covered = f >= 4 && f < 9;
    EXPECT_EQ(confidence == 0, covered) << f;
    EXPECT_LT((t.frame(f)[5] - markers[5].position - Vec3d(2 * n, 0.5 * n, 0)).norm(),
              covered ? 0.5 : 0.1)
        << f;
  }
}

TEST(MarkerTracker, AMarkerThatRunsOffAloneIsTakenForLost) {
  const std::vector<Marker> markers = grid();
  auto tracker = MarkerTracker::start(dots(markers, 0, 0), 0, markers);
  ASSERT_TRUE(tracker.ok());
  std::vector<Marker> shown = markers;
  shown[5].position += Vec3d(16, 0, 0);  // more than half of the way to its neighbour
  ASSERT_TRUE(tracker->add(dots(shown, 0, 0), 1).ok());
  EXPECT_LT((tracker->positions()[6] - markers[6].position).norm(), 0.3);
  EXPECT_EQ(tracker->confidence()[5], 0);
  EXPECT_LT((tracker->positions()[5] - markers[5].position).norm(), 1) << "goes with the others";
  // Back in its place it is seen again.
  ASSERT_TRUE(tracker->add(dots(markers, 0, 0), 2).ok());
  EXPECT_GT(tracker->confidence()[5], 0);
  EXPECT_LT((tracker->positions()[5] - markers[5].position).norm(), 0.3);
}

TEST(MarkerTracker, AllLostEndsWithTheFrameAndKeepsWhatWas) {
  const std::vector<Marker> markers = grid();
  MarkerTrackerDesc desc;
  desc.give_up_frames = 4;
  auto tracker = MarkerTracker::start(dots(markers, 0, 0), 0, markers, desc);
  ASSERT_TRUE(tracker.ok());
  int f = 1;
  for (; f < 6; ++f) ASSERT_TRUE(*tracker->add(dots(markers, f, 0), f));
  int added = 0;
  for (;; ++f, ++added) {
    const auto more = tracker->add(Grey8Image(200, 160, 90), f);
    ASSERT_TRUE(more.ok());
    if (!*more) break;
    ASSERT_LT(added, 10);
  }
  EXPECT_EQ(added, 3);
  ASSERT_TRUE(tracker->lostAt().has_value());
  EXPECT_EQ(*tracker->lostAt(), 6u);
  EXPECT_EQ(tracker->tracks().frames(), 6u);
  EXPECT_TRUE(validate(tracker->tracks(), "tracks").ok());
}

TEST(MarkerTracker, SameFramesSameBits) {
  const std::vector<Marker> markers = grid();
  PointTracks tracks[2];
  for (PointTracks& t : tracks) {
    auto tracker = MarkerTracker::start(dots(markers, 0, 0), 0, markers);
    ASSERT_TRUE(tracker.ok());
    for (int f = 1; f < 6; ++f) ASSERT_TRUE(tracker->add(dots(markers, 3 * f, f), f).ok());
    t = tracker->tracks();
  }
  EXPECT_EQ(tracks[0].positions, tracks[1].positions);
  EXPECT_EQ(tracks[0].confidence, tracks[1].confidence);
}

TEST(MarkerTracker, MarkersOutsideThePictureAreNamed) {
  std::vector<Marker> markers = grid();
  markers[2].position = Vec3d(200, 10, 0);
  markers[7].position = Vec3d(10, -3, 0);
  const auto tracker = MarkerTracker::start(dots(grid(), 0, 0), 0, markers);
  ASSERT_FALSE(tracker.ok());
  EXPECT_EQ(tracker.error().text(),
            "markers: outside the picture of 200x160 pixels: \"m2\" (200, 10), \"m7\" (10, -3)");
}

TEST(MarkerTracker, RefusesWhatCannotBe) {
  const std::vector<Marker> markers = grid();
  const Grey8Image first = dots(markers, 0, 0);
  EXPECT_FALSE(MarkerTracker::start(first, 0, {}).ok());
  EXPECT_FALSE(MarkerTracker::start(first, std::nan(""), markers).ok());
  EXPECT_FALSE(MarkerTracker::start(Grey8Image(10, 10), 0, markers).ok());
  std::vector<Marker> twice = markers;
  twice[1].label = twice[0].label;
  EXPECT_FALSE(MarkerTracker::start(first, 0, twice).ok());
  for (const auto change : {+[](MarkerTrackerDesc& d) { d.window_px = 14; },
                            +[](MarkerTrackerDesc& d) { d.levels = 9; },
                            +[](MarkerTrackerDesc& d) { d.max_return_px = 0; },
                            +[](MarkerTrackerDesc& d) { d.min_likeness = std::nan(""); },
                            +[](MarkerTrackerDesc& d) { d.max_leave = -1; },
                            +[](MarkerTrackerDesc& d) { d.give_up_frames = 0; }}) {
    MarkerTrackerDesc desc;
    change(desc);
    const auto tracker = MarkerTracker::start(first, 0, markers, desc);
    ASSERT_FALSE(tracker.ok());
    EXPECT_EQ(tracker.error().code, ErrorCode::BadArgument);
    EXPECT_FALSE(tracker.error().where.element.empty());
  }
  auto tracker = MarkerTracker::start(first, 1, markers);
  ASSERT_TRUE(tracker.ok());
  EXPECT_FALSE(tracker->add(Grey8Image(201, 160), 2).ok());
  EXPECT_FALSE(tracker->add(first, 1).ok());
  EXPECT_EQ(tracker->frames(), 1u);
  EXPECT_TRUE(tracker->add(first, 2).ok());
}

TEST(MarkerTracker, OneMarkerAtTheCornerIsFollowedToo) {
  const std::vector<Marker> markers = {{"only", Vec3d(0, 0, 0)}};
  auto tracker = MarkerTracker::start(dots(markers, 0, 0), 0, markers);
  ASSERT_TRUE(tracker.ok());
  for (int f = 1; f < 5; ++f) ASSERT_TRUE(tracker->add(dots(markers, 2 * f, 2 * f), f).ok());
}

}  // namespace
}  // namespace derm::marker_tracker_test
