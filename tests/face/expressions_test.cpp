#include "derm/face/expressions.h"

#include <map>

#include <gtest/gtest.h>

#include "measured_heads.h"

namespace derm::expressions_test {
namespace {

std::map<std::string_view, Vec3d> moves(std::string_view name, const FacePoints& points,
                                        double strength = 1) {
  std::map<std::string_view, Vec3d> out;
  const Result<std::vector<PointDisplacement>> found =
      expressionDisplacements(name, points, strength);
  EXPECT_TRUE(found);
  for (const PointDisplacement& d : *found)
    EXPECT_TRUE(out.emplace(d.point, d.displacement_m).second);
  return out;
}

TEST(Expressions, JoyIsMeasuredInTheFacesOwnUnits) {
  const auto joy = moves("joy", kHeadA.points());
  // 8.3: 0.16 mouth widths outward, 0.35 mouth-nose heights up.
  EXPECT_LT((joy.at("8.3") - Vec3d(.16 * 5.2, .35 * 3.1, 0)).norm(), 1e-12);
  EXPECT_LT((joy.at("8.4") - Vec3d(-.16 * 5.2, .35 * 3.1, 0)).norm(), 1e-12);
  EXPECT_LT((joy.at("3.3") - Vec3d(0, .25 * 1.1, 0)).norm(), 1e-12);
  EXPECT_FALSE(joy.contains("2.1"));
}

TEST(Expressions, BothSidesAreMirrorImages) {
  for (const std::string_view name : expressionNames()) {
    SCOPED_TRACE(name);
    const auto all = moves(name, kHeadC.points());
    EXPECT_FALSE(all.empty());
    for (const auto& [point, move] : all) {
      const Vec3d other = all.at(findFaceFeature(point)->mirror);
      EXPECT_LT((Vec3d(-other.x(), other.y(), other.z()) - move).norm(), 1e-12) << point;
    }
  }
}

TEST(Expressions, BlinkBringsTheLidsTogether) {
  for (const MeasuredHead& head : {kHeadA, kHeadB, kHeadC}) {
    const FacePoints points = head.points();
    const auto blink = moves("blink", points);
    EXPECT_LT((points.at("3.1") + blink.at("3.1") - points.at("3.3")).norm(), 1e-12);
    EXPECT_LT((points.at("3.2") + blink.at("3.2") - points.at("3.4")).norm(), 1e-12);
  }
}

TEST(Expressions, StrengthScalesAll) {
  const auto full = moves("anger", kHeadA.points()), half = moves("anger", kHeadA.points(), 0.5);
  for (const auto& [point, move] : full) EXPECT_LT((0.5 * move - half.at(point)).norm(), 1e-12);
}

TEST(Expressions, WhatIsWrongIsSaid) {
  const Result<std::vector<PointDisplacement>> unknown =
      expressionDisplacements("suprise", kHeadA.points());
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("surprise"), std::string::npos);
  EXPECT_FALSE(expressionDisplacements("joy", FacePoints()));
}

}  // namespace
}  // namespace derm::expressions_test
