#include "derm/render/camera.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

namespace derm::camera_test {
namespace {

Bounds box(const Vec3f& low, const Vec3f& high) {
  Bounds out;
  out.low = low;
  out.high = high;
  return out;
}

/// Extent of a box's corners in a 1000 px high picture.
struct Seen {
  double left = 1e9, right = -1e9, top = 1e9, bottom = -1e9, nearest = 1e9, farthest = -1e9;
};

Seen seenCorners(const Bounds& b, const Camera& camera, double aspect) {
  Seen out;
  for (int i = 0; i < 8; ++i) {
    const Vec3d corner((i & 1) ? b.high.x() : b.low.x(), (i & 2) ? b.high.y() : b.low.y(),
                       (i & 4) ? b.high.z() : b.low.z());
    const Vec3d p = projectedPoint(camera, corner, int(1000 * aspect), 1000);
    out.left = std::min(out.left, p.x());
    out.right = std::max(out.right, p.x());
    out.top = std::min(out.top, p.y());
    out.bottom = std::max(out.bottom, p.y());
    out.nearest = std::min(out.nearest, p.z());
    out.farthest = std::max(out.farthest, p.z());
  }
  return out;
}

TEST(OrbitCamera, FramesEveryBoxFromEverySideTightlyAndInTheMiddle) {
  for (const Bounds& b : {box({-1, 0, -0.3f}, {1, 1.8f, 0.3f}), box({5, 5, 5}, {5.1f, 9, 5.2f}),
                          box({-1e-3f, 0, 0}, {1e-3f, 1e-3f, 2e-3f}), box({0, 0, 0}, {90, 1, 70})})
    for (const double aspect : {0.5, 1.0, 16.0 / 9.0})
      for (double yaw = -3; yaw < 3; yaw += 0.7)
        for (const double pitch : {-1.2, 0.0, 0.4, std::numbers::pi / 2}) {
          OrbitDesc desc;
          desc.yaw_rad = yaw;
          desc.pitch_rad = pitch;
          desc.margin = 0.1;
          const Camera camera = orbitCamera(b, desc, aspect);
          const Seen s = seenCorners(b, camera, aspect);
          const double width = 1000 * aspect;
          const double free_x = std::min(s.left, width - s.right) / width;
          const double free_y = std::min(s.top, 1000 - s.bottom) / 1000;
          EXPECT_GT(std::min(free_x, free_y), 0.05 - 2e-3);
          EXPECT_LT(std::min(free_x, free_y), 0.05 + 2e-3);  // one direction is filled
          EXPECT_NEAR(s.left, width - s.right, 2.5);
          EXPECT_NEAR(s.top, 1000 - s.bottom, 2.5);
          EXPECT_GT(s.nearest, camera.near_m);
          EXPECT_LT(s.farthest, camera.far_m);
        }
}

TEST(OrbitCamera, YawZeroLooksAtTheFrontAndPlusYIsUp) {
  OrbitDesc desc;
  desc.yaw_rad = 0;
  desc.pitch_rad = 0;
  const Camera camera = orbitCamera(box({-1, -1, -1}, {1, 1, 1}), desc, 1);
  EXPECT_GT(camera.eye.z(), 1);
  const Vec3d middle = projectedPoint(camera, Vec3d(0, 0, 0), 100, 100);
  EXPECT_NEAR(middle.x(), 50, 1e-6);
  EXPECT_LT(projectedPoint(camera, Vec3d(0, 0.5, 0), 100, 100).y(), middle.y());
  EXPECT_GT(projectedPoint(camera, Vec3d(0.5, 0, 0), 100, 100).x(), middle.x());
}

TEST(OrbitCamera, ZoomEnlargesAroundTheMiddle) {
  const Bounds b = box({-1, 0, -1}, {1, 2, 1});
  OrbitDesc desc;
  const Camera one = orbitCamera(b, desc, 1);
  desc.zoom = 2;
  const Camera two = orbitCamera(b, desc, 1);
  const Vec3d p(0.4, 1.1, 0.2);
  const Vec3d a = projectedPoint(one, p, 100, 100), c = projectedPoint(two, p, 100, 100);
  EXPECT_NEAR(c.x() - 50, 2 * (a.x() - 50), 1e-6);
  EXPECT_NEAR(c.y() - 50, 2 * (a.y() - 50), 1e-6);
}

TEST(OrbitCamera, NothingAndASinglePointStillGiveACamera) {
  for (const Bounds& b : {Bounds(), box({3, 3, 3}, {3, 3, 3}),
                          box(Vec3f::Constant(-INFINITY), Vec3f::Constant(INFINITY))}) {
    const Camera camera = orbitCamera(b, {}, 1.5);
    EXPECT_TRUE(camera.eye.allFinite());
    EXPECT_TRUE(camera.view().allFinite());
    EXPECT_TRUE(camera.projection(1.5).allFinite());
    EXPECT_GT(camera.near_m, 0);
    EXPECT_GT((camera.eye - camera.target).norm(), 0);
  }
}

TEST(Bounds, UnionHoldsBothAndIgnoresNothing) {
  const Bounds a = box({0, 0, 0}, {1, 1, 1}), b = box({-2, 0.5f, 0}, {0, 3, 0.5f});
  EXPECT_EQ(united(a, b), box({-2, 0, 0}, {1, 3, 1}));
  EXPECT_EQ(united(a, Bounds()), a);
  EXPECT_EQ(united(Bounds(), b), b);
}

TEST(OrbitCamera, SeesAllPointsAndStandsNearerThanForTheirBox) {
  // A cross of two bars: its box is mostly empty at the corners.
  std::vector<Vec3f> cross;
  for (int i = -20; i <= 20; ++i) {
    cross.emplace_back(0.05f * static_cast<float>(i), 0.0f, 0.0f);
    cross.emplace_back(0.0f, 0.0f, 0.05f * static_cast<float>(i));
  }
  OrbitDesc desc;
  desc.yaw_rad = std::numbers::pi / 4;
  desc.pitch_rad = 0.9;
  const Camera near = orbitCamera(std::span<const Vec3f>(cross), desc, 1.0);
  const Camera far = orbitCamera(bounds(cross), desc, 1.0);
  EXPECT_LT((near.eye - near.target).norm(), 0.9 * (far.eye - far.target).norm());
  for (const Vec3f& p : cross) {
    const Vec3d at = projectedPoint(near, p.cast<double>(), 100, 100);
    EXPECT_GT(at.x(), 3);
    EXPECT_LT(at.x(), 97);
    EXPECT_GT(at.y(), 3);
    EXPECT_LT(at.y(), 97);
  }
}

TEST(OrbitCamera, PointsThatAreNoneOrOneOrNotFiniteStillGiveACamera) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::vector<Vec3f>& points :
       {std::vector<Vec3f>{}, {Vec3f(1, 2, 3)}, {Vec3f(nan, 0, 0)}}) {
    const Camera camera = orbitCamera(std::span<const Vec3f>(points), {}, 1.0);
    EXPECT_TRUE(camera.eye.allFinite());
    EXPECT_GT((camera.eye - camera.target).norm(), 0);
  }
}

TEST(FarthestPoints, StandForAllPointsOfABall) {
  std::vector<Vec3f> ball;
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 40; ++j) {
      const double a = std::numbers::pi * (i + 0.5) / 40, b = 2 * std::numbers::pi * j / 40;
      ball.emplace_back(static_cast<float>(std::sin(a) * std::cos(b)),
                        static_cast<float>(std::cos(a)),
                        static_cast<float>(std::sin(a) * std::sin(b)));
    }
  FarthestPoints few;
  EXPECT_TRUE(few.points().empty());
  few.add(ball, Vec3f(10, 0, 0));
  ASSERT_LE(few.points().size(), 98u);
  const Camera all = orbitCamera(std::span<const Vec3f>(ball), {}, 1.0);
  const Camera some = orbitCamera(few.points(), {}, 1.0);
  EXPECT_NEAR((some.eye - some.target).norm(), (all.eye - all.target).norm(), 0.15);
  EXPECT_NEAR(some.target.x() - all.target.x(), 10, 0.05);
}

TEST(Camera, PointsKeepOutOfWhatMustStayFree) {
  OrbitDesc desc;
  desc.margin = 0;
  desc.keep_free = {.left = 0.3, .top = 0.2, .right = 0, .bottom = 0.1};
  std::vector<Vec3f> points;
  for (const float x : {-1.0f, 1.0f})
    for (const float y : {0.0f, 2.0f})
      for (const float z : {-0.5f, 0.5f}) points.emplace_back(x, y, z);
  for (const double aspect : {0.5, 2.0}) {
    const int height = 100, width = int(100 * aspect);
    const Camera camera = orbitCamera(points, desc, aspect);
    double left = 1e9, right = -1e9, top = 1e9, bottom = -1e9;
    for (const Vec3f& p : points) {
      const Vec3d at = projectedPoint(camera, p.cast<double>(), width, height);
      left = std::min(left, at.x());
      right = std::max(right, at.x());
      top = std::min(top, at.y());
      bottom = std::max(bottom, at.y());
    }
    EXPECT_GT(left, 0.3 * width - 0.01);
    EXPECT_LT(right, width + 0.01);
    EXPECT_GT(top, 20 - 0.01);
    EXPECT_LT(bottom, 90 + 0.01);
    // In the middle of what is left, and as large as it can be.
    EXPECT_NEAR(left + right, 1.3 * width, 0.02);
    EXPECT_NEAR(top + bottom, 110, 0.02);
    EXPECT_TRUE(right - left > 0.7 * width - 0.02 || bottom - top > 70 - 0.02);
  }
}

}  // namespace
}  // namespace derm::camera_test
