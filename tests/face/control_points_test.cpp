#include "derm/face/control_points.h"

#include <gtest/gtest.h>

#include "rigged_head.h"

namespace derm::control_points_test {
namespace {

TEST(ControlPoints, PositionsGoToTheNearestSurfaceInTheFilesUnit) {
  const Character head = headCalled('a');  // modelled in cm, in memory in m
  const std::vector<NamedPosition> named = {{"nose_tip", {}, Vec3d(0, -1.8, 11.9)},
                                            {"mine", {}, Vec3d(0, 11.2, 0)}};
  Diagnostics notes;
  const Result<std::vector<LabelledPoint>> placed = placePoints(named, head.mesh, 0.01, notes);
  ASSERT_TRUE(placed) << placed.error().text();
  EXPECT_EQ((*placed)[0].label, "9.3");  // by its number from now on
  EXPECT_EQ((*placed)[1].label, "mine");
  const Vec3f at = positionAt((*placed)[0].point, head.mesh.triangles, head.mesh.positions);
  EXPECT_LT((at - Vec3f(0, -0.018f, 0.1179f)).norm(), 0.002f);
  EXPECT_TRUE(notes.empty());
}

TEST(ControlPoints, FarOffPointsAreNoted) {
  const Character head = headCalled('a');
  Diagnostics notes;
  const std::vector<NamedPosition> far = {{"9.3", {}, Vec3d(0, -1.8, 14)}};
  ASSERT_TRUE(placePoints(far, head.mesh, 0.01, notes));
  EXPECT_EQ(notes.count("point-off-surface"), 1u);
  const std::vector<NamedPosition> wrong_unit = {{"9.3", {}, Vec3d(0, -1.8, 11.8)}};
  ASSERT_TRUE(placePoints(wrong_unit, head.mesh, 1, notes));
  EXPECT_EQ(notes.count("point-off-surface"), 2u);
}

TEST(ControlPoints, VerticesAreTakenAsTheyAre) {
  const Character head = headCalled('b');
  Diagnostics notes;
  const std::vector<NamedPosition> named = {{"2.1", 77, Vec3d::Zero()}};
  const Result<std::vector<LabelledPoint>> placed = placePoints(named, head.mesh, 0.01, notes);
  ASSERT_TRUE(placed);
  EXPECT_EQ(positionAt((*placed)[0].point, head.mesh.triangles, head.mesh.positions),
            head.mesh.positions[77]);
}

TEST(ControlPoints, PointsDoNotStickToOtherPieces) {
  Character head = headCalled('a');
  std::vector<NamedPosition> named;
  const FacePoints points = pointsOf(head);
  for (const std::string_view n : controlPointNumbers())
    named.push_back({std::string(n), {}, points.at(n)});
  // A lash right before the lid.
  const Vec3f lid = points.at("3.1").cast<float>();
  const auto first = static_cast<std::uint32_t>(head.mesh.vertexCount());
  for (const Vec3f& p : {Vec3f(-.002f, 0, .0001f), Vec3f(.002f, 0, .0001f), Vec3f(0, .001f, .002f)})
    head.mesh.positions.push_back(lid + p);
  head.mesh.triangles.push_back({first, first + 1, first + 2});
  for (NamedPosition& p : named)
    if (p.label == "3.1") p.position += Vec3d(0, 0, .0002);
  Diagnostics notes;
  const Result<std::vector<LabelledPoint>> placed = placePoints(named, head.mesh, 1, notes);
  ASSERT_TRUE(placed);
  for (const LabelledPoint& p : *placed)
    EXPECT_LT(p.point.triangle + 1, head.mesh.triangles.size()) << p.label;
}

TEST(ControlPoints, ErrorsNameTheLabel) {
  const Character head = headCalled('a');
  Diagnostics notes;
  const auto errorOf = [&](const std::vector<NamedPosition>& named) {
    const Result<std::vector<LabelledPoint>> placed = placePoints(named, head.mesh, 1, notes);
    return placed ? std::string("no error") : placed.error().text();
  };
  EXPECT_NE(errorOf({{"8.1", 123456789, Vec3d::Zero()}}).find("point \"8.1\": vertex 123456789"),
            std::string::npos);
  EXPECT_NE(errorOf({{"8.1", 1, Vec3d::Zero()}, {"upper_lip_middle", 2, Vec3d::Zero()}})
                .find("two labels"),
            std::string::npos);
}

}  // namespace
}  // namespace derm::control_points_test
