#include "derm/face/face_points.h"

#include <gtest/gtest.h>

#include "measured_heads.h"

namespace derm::face_points_test {
namespace {

void expectUnits(const MeasuredHead& head, const FaceUnits& wanted) {
  const FaceUnits u = measureFaceUnits(head.points());
  EXPECT_NEAR(u.eye_separation_m, wanted.eye_separation_m, 1e-12);
  EXPECT_NEAR(u.eye_nose_m, wanted.eye_nose_m, 1e-12);
  EXPECT_NEAR(u.mouth_nose_m, wanted.mouth_nose_m, 1e-12);
  EXPECT_NEAR(u.mouth_width_m, wanted.mouth_width_m, 1e-12);
  EXPECT_NEAR(u.lid_opening_m, wanted.lid_opening_m, 1e-12);
}

TEST(FacePoints, TheFormulasAgreeWithKnownPoints) {
  EXPECT_NEAR(kHeadA.points().at("9.3").z(), 11.791922, 1e-6);
  EXPECT_NEAR(kHeadB.points().at("9.3").z(), 13.201557, 1e-6);
  EXPECT_NEAR(kHeadC.points().at("9.3").z(), 9.912973, 1e-6);
  EXPECT_NEAR(kHeadA.points().at("3.1").z(), 7.701443, 1e-6);
  EXPECT_NEAR(kHeadB.points().at("3.1").z(), 8.236857, 1e-6);
}

TEST(FacePoints, UnitsOfThreeFaces) {
  expectUnits(kHeadA, {6.40, 3.00, 3.10, 5.20, 1.10});
  expectUnits(kHeadB, {5.80, 4.00, 3.30, 4.40, .90});
  expectUnits(kHeadC, {7.80, 2.70, 2.50, 8.40, 2.60});
}

TEST(FacePoints, AFaceThatLooksAlongZIsTakenToDoSoExactly) {
  for (const MeasuredHead& head : {kHeadA, kHeadB, kHeadC}) {
    const FaceAxes axes = faceAxes(head.points());
    EXPECT_EQ(axes.left, Vec3d::UnitX());
    EXPECT_EQ(axes.up, Vec3d::UnitY());
    EXPECT_EQ(axes.forward, Vec3d::UnitZ());
  }
}

TEST(FacePoints, ATurnedFaceHasItsOwnDirections) {
  FacePoints turned;  // looks along +x, as after a quarter turn to its left
  const FacePoints straight = kHeadA.points();
  for (const std::string_view n : controlPointNumbers()) {
    const Vec3d p = straight.at(n);
    turned.set(n, Vec3d(p.z(), p.y(), -p.x()));
  }
  EXPECT_TRUE(validateControlPoints(turned));
  const FaceAxes axes = faceAxes(turned);
  EXPECT_GT(axes.forward.x(), 0.9);
  EXPECT_LT(axes.left.z(), -0.9);
  EXPECT_NEAR(axes.left.dot(axes.up), 0, 1e-12);
  EXPECT_NEAR(axes.left.norm(), 1, 1e-12);
}

TEST(FacePoints, MissingPointsAreListed) {
  FacePoints some;
  some.set("9.3", Vec3d::Zero());
  const Result<void> checked = validateControlPoints(some);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("27 control points are missing"), std::string::npos);
  EXPECT_NE(checked.error().message.find("8.1 (upper_lip_middle)"), std::string::npos);
}

TEST(FacePoints, SwappedSidesAreFound) {
  const FacePoints good = kHeadB.points();
  EXPECT_TRUE(validateControlPoints(good));
  FacePoints all = good;
  for (const std::string_view n : controlPointNumbers())
    all.set(n, good.at(findFaceFeature(n)->mirror));
  const Result<void> swapped = validateControlPoints(all);
  ASSERT_FALSE(swapped);
  EXPECT_NE(swapped.error().message.find("left and right are swapped:"), std::string::npos);
  FacePoints one = good;
  one.set("4.1", good.at("4.2"));
  one.set("4.2", good.at("4.1"));
  const Result<void> brows = validateControlPoints(one);
  ASSERT_FALSE(brows);
  EXPECT_NE(brows.error().message.find("4.1 (inner_brow_left), 4.2"), std::string::npos)
      << brows.error().message;
}

TEST(FacePoints, SwappedHeightsAreFound) {
  const auto errorOfSwapped = [](std::string_view a, std::string_view b) {
    FacePoints points = kHeadB.points();
    const Vec3d at = points.at(a);
    points.set(a, points.at(b));
    points.set(b, at);
    const Result<void> checked = validateControlPoints(points);
    return checked ? "no error" : checked.error().message;
  };
  EXPECT_EQ(errorOfSwapped("8.1", "8.2"),
            "upper and lower are swapped: 8.1 (upper_lip_middle) lies below 8.2 "
            "(lower_lip_middle)");
  EXPECT_EQ(errorOfSwapped("3.1", "3.3"),
            "upper and lower are swapped: 3.1 (upper_lid_left) lies below 3.3 (lower_lid_left)");
  EXPECT_EQ(errorOfSwapped("4.3", "3.1"),
            "upper and lower are swapped: 4.3 (brow_middle_left) lies below 3.1 (upper_lid_left)");
  const std::string nose = errorOfSwapped("9.3", "2.1");
  EXPECT_TRUE(
      nose.starts_with("upper and lower are swapped: 9.3 (nose_tip) lies below 2.1 (chin_bottom)"))
      << nose;
}

TEST(FacePoints, SomePointsAreCheckedAsFarAsTheyGo) {
  FacePoints some;
  for (const std::string_view n : controlPointNumbers())
    if (n != "5.1" && n != "8.5") some.set(n, kHeadA.points().at(n));
  EXPECT_TRUE(validateFaceOrder(some));
  some.set("8.3", kHeadA.points().at("8.4"));
  some.set("8.4", kHeadA.points().at("8.3"));
  const Result<void> swapped = validateFaceOrder(some);
  ASSERT_FALSE(swapped);
  EXPECT_NE(swapped.error().message.find("8.3 (mouth_corner_left), 8.4"), std::string::npos)
      << swapped.error().message;
  // Without the nose nobody knows where forward is.
  FacePoints few;
  for (const char* n : {"8.1", "8.2", "8.3", "8.4"}) few.set(n, kHeadA.points().at(n));
  EXPECT_TRUE(validateFaceOrder(few));
}

TEST(FacePoints, TwoPointsAtOnePlaceAreAnError) {
  FacePoints points = kHeadA.points();
  points.set("8.1", points.at("9.3"));
  const Result<void> checked = validateControlPoints(points);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("8.1 (upper_lip_middle), 9.3"), std::string::npos)
      << checked.error().message;
}

TEST(FacePoints, LabelsMayBeNumbersOrNames) {
  TriMesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  mesh.triangles = {{0, 1, 2}};
  const auto corner = [](std::string label, int i) {
    return LabelledPoint{std::move(label), {0, Vec3f::Unit(i)}};
  };
  const std::vector<LabelledPoint> labels = {corner("nose_tip", 1), corner("2.1", 2),
                                             corner("my marker", 0)};
  const Result<FacePoints> points = facePoints(labels, mesh);
  ASSERT_TRUE(points);
  EXPECT_EQ(points->at("9.3"), Vec3d::UnitX());
  EXPECT_EQ(points->at("2.1"), Vec3d::UnitY());
  const std::vector<LabelledPoint> twice = {corner("nose_tip", 1), corner("9.3", 2)};
  const Result<FacePoints> conflict = facePoints(twice, mesh);
  ASSERT_FALSE(conflict);
  EXPECT_NE(conflict.error().text().find("9.3 (nose_tip)"), std::string::npos);
}

}  // namespace
}  // namespace derm::face_points_test
