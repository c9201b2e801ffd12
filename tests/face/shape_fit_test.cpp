#include "derm/face/shape_fit.h"

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/face/arkit_shapes.h"
#include "derm/face/expression_names.h"
#include "derm/face/shape_motion.h"
#include "derm/io/shape_tracks_file.h"

#include "rigged_head.h"
#include "support/compare.h"

namespace derm::shape_fit_test {
namespace {

std::size_t shapeOf(std::string_view name) {
  return static_cast<std::size_t>(findFaceShape(name) - faceShapes().data());
}

/// Control points at rest in frames of 1/30 s, to be moved.
PointTracks restTracks(const FacePoints& face, std::size_t frames) {
  PointTracks out;
  for (const std::string_view number : controlPointNumbers()) {
    out.labels.emplace_back(number);
    out.neutral.push_back(face.at(number));
  }
  for (std::size_t f = 0; f < frames; ++f) {
    out.times_s.push_back(double(f) / 30);
    out.positions.insert(out.positions.end(), out.neutral.begin(), out.neutral.end());
  }
  return out;
}

void move(PointTracks& tracks, std::size_t frame, std::span<const PointDisplacement> moves,
          double strength) {
  for (const PointDisplacement& d : moves)
    tracks.positions[frame * tracks.labels.size() + columnOf(d.point)] +=
        strength * d.displacement_m;
}

TEST(ShapeFit, ShapesAreFoundFromWhatTheyDo) {
  const FacePoints face = pointsOf(headCalled('a'));
  Diagnostics notes;
  for (const char* name : {"jawOpen", "mouthSmileLeft", "eyeBlinkRight", "browInnerUp",
                           "browDownLeft", "mouthPucker", "noseSneerRight", "cheekPuff"}) {
    SCOPED_TRACE(name);
    PointTracks tracks = restTracks(face, 30);
    for (std::size_t f = 0; f < 30; ++f)
      move(tracks, f, faceShapeDisplacements(name, face).value(),
           0.8 * std::sin(3.14159 * double(f) / 29));
    const Result<ShapeTracks> found = fitShapes(tracks, {}, notes);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_LT(found->frame(0)[shapeOf(name)], 0.02);
    EXPECT_NEAR(found->frame(15)[shapeOf(name)], 0.8, 0.12);
    // Nothing of the other side.
    const FaceShape* shape = findFaceShape(name);
    if (shape->mirror != shape->name) {
      EXPECT_LT(found->frame(15)[shapeOf(shape->mirror)], 0.03);
    }
  }
}

TEST(ShapeFit, SixExpressionsLookAsTheyShould) {
  const FacePoints face = pointsOf(headCalled('b'));
  struct Case {
    const char* expression;
    std::vector<const char*> wanted, not_wanted;
  };
  for (const Case& c :
       {Case{"joy", {"mouthSmileLeft", "mouthSmileRight"}, {"mouthFrownLeft", "browDownLeft"}},
        Case{"sadness", {"browInnerUp", "mouthFrownLeft"}, {"mouthSmileLeft", "jawOpen"}},
        Case{"disgust", {"noseSneerLeft", "browDownRight"}, {"browInnerUp", "jawOpen"}},
        Case{"surprise", {"jawOpen", "eyeWideLeft", "browOuterUpLeft"}, {"browDownLeft"}},
        Case{"fear", {"browInnerUp", "eyeWideRight", "mouthStretchLeft"}, {"browDownRight"}},
        Case{"anger", {"browDownLeft", "browDownRight"}, {"browInnerUp", "mouthSmileLeft"}}}) {
    SCOPED_TRACE(c.expression);
    PointTracks tracks = restTracks(face, 20);
    const std::vector<PointDisplacement> moves =
        expressionDisplacements(c.expression, face).value();
    for (std::size_t f = 0; f < 20; ++f) move(tracks, f, moves, std::min(1.0, double(f) / 10));
    Diagnostics notes;
    const ShapeTracks found = fitShapes(tracks, {}, notes).value();
    ASSERT_TRUE(validate(found, "").ok());
    for (const char* name : c.wanted) EXPECT_GT(found.frame(19)[shapeOf(name)], 0.25) << name;
    for (const char* name : c.not_wanted) EXPECT_LT(found.frame(19)[shapeOf(name)], 0.15) << name;
    for (std::size_t f = 1; f < 20; ++f)
      for (std::size_t s = 0; s < 52; ++s)
        EXPECT_LT(std::abs(found.frame(f)[s] - found.frame(f - 1)[s]), 0.3f);
    // Expressions of both sides are alike on both.
    for (const FaceShape& shape : faceShapes())
      EXPECT_NEAR(found.frame(19)[shapeOf(shape.name)], found.frame(19)[shapeOf(shape.mirror)],
                  0.03)
          << shape.name;
  }
}

TEST(ShapeFit, WhatWasNotSeenDoesNotCount) {
  const FacePoints face = pointsOf(headCalled('a'));
  PointTracks tracks = restTracks(face, 10);
  tracks.confidence.assign(tracks.positions.size(), 1.0f);
  for (std::size_t f = 0; f < 10; ++f) {
    move(tracks, f, faceShapeDisplacements("mouthSmileLeft", face).value(), 0.7);
    // A brow that was lost and taken to be somewhere else.
    tracks.positions[f * 28 + columnOf("4.3")] += Vec3d(0, 0.05, 0);
    tracks.confidence[f * 28 + columnOf("4.3")] = 0;
  }
  Diagnostics notes;
  const ShapeTracks found = fitShapes(tracks, {}, notes).value();
  EXPECT_NEAR(found.frame(5)[shapeOf("mouthSmileLeft")], 0.7, 0.12);
  EXPECT_LT(found.frame(5)[shapeOf("browOuterUpLeft")], 0.05);
}

TEST(ShapeFit, EyesThatAreShutAtRestHaveNoOpeningToMeasureIn) {
  FacePoints face = pointsOf(headCalled('a'));
  for (const auto& [upper, lower] : {std::pair{"3.1", "3.3"}, {"3.2", "3.4"}})
    face.set(upper, face.at(lower) + Vec3d(0, 0, 1e-4));
  PointTracks tracks = restTracks(face, 5);
  for (std::size_t f = 0; f < 5; ++f)
    move(tracks, f, faceShapeDisplacements("jawOpen", face).value(), 0.6);
  Diagnostics notes;
  const Result<ShapeTracks> found = fitShapes(tracks, {}, notes);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_TRUE(validate(*found, "fit"));
  EXPECT_NEAR(found->frame(2)[shapeOf("jawOpen")], 0.6, 0.12);
}

TEST(ShapeFit, ARecordingComesBack) {
  DERM_DATA_OR_SKIP(folder, "face-motion-arkit");
  Diagnostics notes;
  ShapeTracks tracks =
      arkitTracks(loadShapeTracks(folder / "alex_rom_3.csv", notes).value(), notes).value();
  tracks.times_s.resize(900);
  tracks.values.resize(900 * 52);
  Character head = headCalled('a');
  FaceRigDesc desc;
  desc.clips = false;
  const FaceRig rig = addFaceRig(head, desc, notes).value();
  const ShapeMotion motion = ShapeMotion::bind(head, rig, notes).value();
  const PointTracks points = shapePoints(motion, tracks);
  const Result<ShapeTracks> found = fitShapes(points, {}, notes);
  ASSERT_TRUE(found) << found.error().text();
  const PointTracks again = shapePoints(motion, *found);
  double off = 0, moved = 0, jerk = 0, source_jerk = 0;
  for (std::size_t i = 0; i < points.positions.size(); ++i) {
    off += (again.positions[i] - points.positions[i]).norm();
    moved += (points.positions[i] - points.neutral[i % 28]).norm();
  }
  for (std::size_t i = 52; i + 52 < tracks.values.size(); ++i) {
    const auto second = [&](const ShapeTracks& t) {
      return double(t.values[i + 52] - 2 * t.values[i] + t.values[i - 52]);
    };
    jerk += second(*found) * second(*found);
    source_jerk += second(tracks) * second(tracks);
  }
  RecordProperty("off", std::to_string(off / moved));
  RecordProperty("jerk", std::to_string(jerk / source_jerk));
  EXPECT_LT(off / moved, 0.15);
  EXPECT_LT(jerk, source_jerk);
  for (const char* name : {"jawOpen", "eyeBlinkLeft", "browInnerUp", "mouthSmileLeft"}) {
    double difference = 0;
    for (std::size_t f = 0; f < tracks.frames(); ++f)
      difference +=
          std::abs(double(found->frame(f)[shapeOf(name)]) - double(tracks.frame(f)[shapeOf(name)]));
    RecordProperty(name, std::to_string(difference / 900));
    // Lids that look down and lids that shut a little are the same to their points.
    EXPECT_LT(difference / 900, std::string_view(name) == "eyeBlinkLeft" ? 0.15 : 0.05) << name;
  }
}

TEST(ShapeFit, SaysWhatIsMissing) {
  const FacePoints face = pointsOf(headCalled('a'));
  Diagnostics notes;
  PointTracks tracks = restTracks(face, 2);
  EXPECT_FALSE(fitShapes(tracks, {.smoothness = -1}, notes).ok());
  tracks.labels[3] = "somebody's";
  const Result<ShapeTracks> missing = fitShapes(tracks, {}, notes);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().text().find("1 control point is missing"), std::string::npos);
}

}  // namespace
}  // namespace derm::shape_fit_test
