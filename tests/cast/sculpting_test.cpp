#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "derm/mesh/closedness.h"
#include "derm/mesh/measures.h"

#include "cast/curve.h"
#include "cast/planar_pose.h"
#include "cast/remesh.h"
#include "cast/sculpt.h"
#include "cast/surface.h"
#include "cast/weights.h"

namespace derm::detail::cast::sculpting_test {
namespace {

Sculpt unitBall() {
  Sculpt s;
  s.ball({0, 0, 0}, 1.0, {0});
  return s;
}

double smallestAngle(const Surface& s, const Triangle& t) {
  double min = 180;
  for (int i = 0; i < 3; ++i) {
    const Vec3d u = (s.positions[t[(i + 1) % 3]] - s.positions[t[i]]).normalized();
    const Vec3d v = (s.positions[t[(i + 2) % 3]] - s.positions[t[i]]).normalized();
    min = std::min(min, std::acos(std::clamp(u.dot(v), -1.0, 1.0)) * 180.0 / std::numbers::pi);
  }
  return min;
}

TEST(Sculpt, RoundConeIsTheDistanceToTheHullOfItsBalls) {
  const Bead a{{0, 0, 0}, 0.5}, b{{2, 0, 0}, 0.2};
  for (const Vec3d& p : {Vec3d(1, 1, 0.3), Vec3d(-1, 0.2, 0), Vec3d(3, 0.1, 0.4),
                         Vec3d(0.4, 0.1, 0), Vec3d(1.7, -0.9, 0.1)}) {
    double nearest = 1e9;  // over the balls that sweep the hull
    for (int i = 0; i <= 20000; ++i) {
      const double t = i / 20000.0;
      nearest = std::min(nearest, (p - (a.centre + t * (b.centre - a.centre))).norm() -
                                      (a.radius + t * (b.radius - a.radius)));
    }
    EXPECT_NEAR(roundConeDistance(p, a, b), nearest, 1e-6);
  }
  EXPECT_NEAR(roundConeDistance({2, 0, 0}, {{0, 0, 0}, 1.0}, {{0.1, 0, 0}, 0.2}), 1.0,
              1e-12);  // one holds the other
}

TEST(Sculpt, FarStrokesAreSkippedWithoutChangingTheField) {
  // The same lumps in one sculpt, and each as a sculpt of its own blended by hand.
  const Vec3d lumps[] = {{0, 0, 0}, {0.9, 0.1, 0}, {1.5, 0.5, 0.2}, {-0.8, 0.3, 0.4}};
  Sculpt together;
  for (const Vec3d& c : lumps) together.ellipsoid(c, {0.5, 0.3, 0.2}, aboutY(20), {0.1});
  for (int i = 0; i < 400; ++i) {
    const Vec3d p(-2.0 + 0.01 * i, 0.3 * std::sin(0.1 * i), 0.4 * std::cos(0.07 * i));
    double d = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      Sculpt one;
      one.ellipsoid(lumps[k], {0.5, 0.3, 0.2}, aboutY(20), {0});
      d = k == 0 ? one.distance(p) : smoothMin(d, one.distance(p), 0.1);
    }
    EXPECT_NEAR(together.distance(p), d, 1e-12);
  }
}

TEST(Sculpt, AMirroredStrokeMakesAnExactlySymmetricField) {
  Sculpt s;
  s.ball({0, 0, 0}, 0.4, {0});
  s.cone({{0.2, 0.1, 0}, 0.2}, {{0.7, 0.6, 0.2}, 0.1}, {0.15, true});
  for (const Vec3d& p : {Vec3d(0.3, 0.4, 0.1), Vec3d(0.05, -0.3, 0.6), Vec3d(0.8, 0.9, 0)})
    EXPECT_EQ(s.distance(p), s.distance(Vec3d(-p.x(), p.y(), p.z())));
}

TEST(Polygoniser, BallIsClosedOrientedOutwardAndOfGenusZero) {
  const Surface s =
      polygonised(unitBall(), {Vec3d::Constant(-1.2), Vec3d::Constant(1.2), 0.11, false});
  EXPECT_TRUE(checkClosed(s.triangles).closed());
  EXPECT_EQ(s.positions.size() * 2, s.triangles.size() + 4);
  EXPECT_NEAR(volume(s.positions, s.triangles), 4.0 / 3.0 * std::numbers::pi, 0.15);
}

TEST(Remesh, MeetsTheTriangleBudgetExactlyWithGoodTriangles) {
  const Sculpt ball = unitBall();
  const Surface fine =
      polygonised(ball, {Vec3d::Constant(-1.2), Vec3d::Constant(1.2), 0.07, false});
  RemeshDesc desc;
  desc.base_edge = 0.2;
  desc.triangles = 700;
  const Surface s = remeshed(fine, ball, {}, desc);
  EXPECT_EQ(s.triangles.size(), 700u);
  EXPECT_TRUE(checkClosed(s.triangles).closed());
  for (const Triangle& t : s.triangles) EXPECT_GT(smallestAngle(s, t), 25.0);
  // Projection is second order in its difference step, here 2 % of an edge.
  for (const Vec3d& p : s.positions) EXPECT_NEAR(p.norm(), 1.0, 2e-5);
}

TEST(Remesh, AHalfBodyAndItsMirrorImageCloseExactly) {
  const Sculpt ball = unitBall();
  const Surface fine = polygonised(ball, {Vec3d(0, -1.2, -1.2), Vec3d::Constant(1.2), 0.09, true});
  RemeshDesc desc;
  desc.base_edge = 0.25;
  desc.triangles = 201;  // odd: needs an edge on the cut
  desc.half = true;
  std::vector<std::uint32_t> mirror_of;
  const Surface s = mirrored(remeshed(fine, ball, {}, desc), mirror_of);
  EXPECT_EQ(s.triangles.size(), 402u);
  EXPECT_TRUE(checkClosed(s.triangles).closed());
  for (std::size_t v = 0; v < s.positions.size(); ++v) {
    const Vec3d& p = s.positions[v];
    EXPECT_EQ(mirror_of[mirror_of[v]], v);
    EXPECT_EQ(s.positions[mirror_of[v]], Vec3d(-p.x(), p.y(), p.z()));
  }
}

TEST(Remesh, RegionOutlinesStayWhereTheyWereDrawn) {
  const Sculpt ball = unitBall();
  Surface fine = polygonised(ball, {Vec3d::Constant(-1.2), Vec3d::Constant(1.2), 0.08, false});
  Region cap;
  cap.material = 1;
  cap.inside.halfSpace({0, 0.5, 0}, Vec3d(0, -1, 0), {0});
  cutRegion(fine, cap);
  RemeshDesc desc;
  desc.base_edge = 0.2;
  desc.triangles = 900;
  const Surface s = remeshed(fine, ball, std::span(&cap, 1), desc);
  std::size_t inside = 0;
  for (std::size_t t = 0; t < s.triangles.size(); ++t) {
    inside += s.materials[t] == 1;
    for (const std::uint32_t v : s.triangles[t]) {
      const double y = s.positions[v].y();
      EXPECT_TRUE(s.materials[t] == 1 ? y > 0.499 : y < 0.501) << y;
    }
  }
  EXPECT_NEAR(static_cast<double>(inside) / 900.0, 0.25, 0.04);  // the cap's share of the area
}

TEST(Curve, PassesThroughItsKeysWithoutOvershoot) {
  const Curve c({{0, 0}, {1, 2}, {2, 2}, {4, -1}});
  EXPECT_DOUBLE_EQ(c(0), 0);
  EXPECT_DOUBLE_EQ(c(1), 2);
  EXPECT_DOUBLE_EQ(c(4), -1);
  EXPECT_DOUBLE_EQ(c(9), -1);
  for (int i = 0; i <= 100; ++i) {
    EXPECT_LE(c(0.04 * i), 2.0 + 1e-12);
    EXPECT_GE(c(0.04 * i), -1.0 - 1e-12);
  }
}

TEST(Curve, APeriodicOneIsSmoothAcrossItsSeam) {
  const Curve c({{0.1, 1}, {0.4, 3}, {0.8, -2}}, 1.0);
  EXPECT_NEAR(c(0.3), c(1.3), 1e-12);
  EXPECT_NEAR(c(-0.25), c(0.75), 1e-12);
  const double h = 1e-6;
  EXPECT_NEAR((c(1.0 + h) - c(1.0)) / h, (c(0.0) - c(-h)) / h, 1e-3);
}

TEST(PlanarPose, ReachPutsTheEndOnAReachableTargetAndStaysFiniteOtherwise) {
  Rig rig;
  rig.add("hip", "", {0.1, 1, 0});
  rig.add("thigh", "hip", {0.1, 1, 0});
  rig.add("shin", "thigh", {0.1, 0.55, 0.05});
  rig.add("ankle", "shin", {0.1, 0.1, 0});
  for (const Vec3d& target : {Vec3d(0.1, 0.3, 0.2), Vec3d(0.1, 0.5, -0.3), Vec3d(0.1, 0.8, 0.5)}) {
    PlanarPose pose(rig);
    pose.pitch("hip") = 20;
    pose.reach("thigh", "shin", "ankle", target);
    EXPECT_LT((pose.where("ankle") - target).norm(), 1e-6);
  }
  PlanarPose pose(rig);
  pose.reach("thigh", "shin", "ankle", {0.1, -5, 0});
  EXPECT_LT((pose.where("ankle") - Vec3d(0.1, 0.1, 0)).norm(), 0.02);
  pose.reach("thigh", "shin", "ankle", pose.where("thigh"));
  EXPECT_TRUE(pose.where("ankle").allFinite());
}

TEST(Weights, AnUnknownSideIsItsOwnMirrorJoint) {
  Rig rig;
  rig.add("root", "", {0, 0, 0});
  rig.add("leg_left", "root", {1, 0, 0});
  rig.add("leg_right", "root", {-1, 0, 0});
  rig.add("horn_left", "root", {1, 1, 0});
  EXPECT_EQ(mirrorJoints(rig.skeleton()), (std::vector<std::size_t>{0, 2, 1, 3}));
}

}  // namespace
}  // namespace derm::detail::cast::sculpting_test
