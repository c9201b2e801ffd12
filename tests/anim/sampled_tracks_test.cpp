#include <limits>

#include <gtest/gtest.h>

#include "derm/anim/point_tracks.h"
#include "derm/anim/shape_tracks.h"

namespace derm::sampled_tracks_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Two points, three frames.
PointTracks points() {
  PointTracks tracks;
  tracks.labels = {"8.1", "8.2"};
  tracks.neutral = {Vec3d(0, 1, 0), Vec3d(0, 0, 0)};
  tracks.times_s = {0, 0.5, 1};
  for (int frame = 0; frame < 3; ++frame)
    for (const Vec3d& at : tracks.neutral)
      tracks.positions.emplace_back(at + frame * Vec3d::UnitX());
  return tracks;
}

ShapeTracks shapes() {
  return {.names = {"jawOpen", "eyeBlinkLeft"}, .times_s = {0, 1}, .values = {0, 0, 1, 0.5f}};
}

TEST(PointTracks, FramesAreRowsOfLabels) {
  const PointTracks tracks = points();
  ASSERT_TRUE(validate(tracks, "t").ok());
  EXPECT_EQ(tracks.frame(2)[1], Vec3d(2, 0, 0));
}

TEST(PointTracks, WhatIsWrongIsNamed) {
  const auto textOf = [](const auto& edit) {
    PointTracks tracks = points();
    edit(tracks);
    const Result<void> checked = validate(tracks, "t.csv");
    return checked.ok() ? std::string() : checked.error().text();
  };
  EXPECT_EQ(textOf([](PointTracks& t) { t.labels[1] = "8.1"; }),
            "t.csv: labels[1]: \"8.1\" is there twice");
  EXPECT_EQ(textOf([](PointTracks& t) { t.times_s[2] = 0.5; }),
            "t.csv: times[2]: not later than the frame before");
  EXPECT_EQ(textOf([](PointTracks& t) { t.positions.pop_back(); }), "t.csv: positions: 5 of 6");
  EXPECT_EQ(textOf([](PointTracks& t) { t.positions[3].y() = kNan; }),
            "t.csv: frames[1]: \"8.2\" is not at a finite place");
  EXPECT_EQ(textOf([](PointTracks& t) {
              t.space = TrackSpace::Picture;
              t.positions[4].z() = 1;
            }),
            "t.csv: frames[2]: \"8.1\" has a depth, but pictures have none");
  EXPECT_EQ(textOf([](PointTracks& t) { t.confidence.assign(6, 2); }),
            "t.csv: frames[0]: confidence of \"8.1\" is not in [0, 1]");
  EXPECT_EQ(textOf([](PointTracks& t) { t.head.resize(2); }), "t.csv: head: 2 of 3");
  EXPECT_EQ(textOf([](PointTracks& t) {
              t.head.resize(3);
              t.head[1].rotation.coeffs().setZero();
            }),
            "t.csv: frames[1]: the head's motion is not a finite one");
}

TEST(ShapeTracks, WhatIsWrongIsNamed) {
  EXPECT_TRUE(validate(shapes(), "s").ok());
  ShapeTracks tracks = shapes();
  tracks.values[3] = static_cast<float>(kNan);
  EXPECT_EQ(validate(tracks, "s.csv").error().text(),
            "s.csv: frames[1]: \"eyeBlinkLeft\" is not a finite number");
  tracks = shapes();
  tracks.times_s.clear();
  EXPECT_EQ(validate(tracks, "s.csv").error().text(), "s.csv: times: no frames");
  tracks = shapes();
  tracks.head.resize(2);
  tracks.head[0].setIdentity();
  tracks.head[1].coeffs().setZero();
  EXPECT_EQ(validate(tracks, "s.csv").error().text(),
            "s.csv: frames[1]: the head's turn is not a rotation");
}

}  // namespace
}  // namespace derm::sampled_tracks_test
