#include "support/dual_quat.h"

#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::dual_quat_test {
namespace {

constexpr double kPi = std::numbers::pi;

Vec3d randomVector(Rng& rng, double size) {
  return size * Vec3d(rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1, 1));
}

Quatd randomRotation(Rng& rng) {
  return Quatd(Eigen::AngleAxisd(rng.uniform(0, 2 * kPi),
                                 (randomVector(rng, 1) + Vec3d(0, 0, 1e-3)).normalized()));
}

DualQuat randomMotion(Rng& rng) {
  return DualQuat::fromRigid(randomRotation(rng), randomVector(rng, 3));
}

TEST(DualQuat, MovesPointsAsItsMatrixDoes) {
  Rng rng(1);
  for (int i = 0; i < 50; ++i) {
    const Quatd q = randomRotation(rng);
    const Vec3d t = randomVector(rng, 3);
    const DualQuat motion = DualQuat::fromRigid(q, t);
    const Vec3d p = randomVector(rng, 2);
    EXPECT_LT((motion.point(p) - (q.toRotationMatrix() * p + t)).norm(), 1e-14);
    EXPECT_LT((motion.matrix() * p - motion.point(p)).norm(), 1e-14);
    EXPECT_LT((motion.direction(p) - q.toRotationMatrix() * p).norm(), 1e-14);
    EXPECT_LT((motion.translation() - t).norm(), 1e-14);
  }
}

TEST(DualQuat, ProductDoesTheSecondMotionFirst) {
  Rng rng(2);
  for (int i = 0; i < 50; ++i) {
    const DualQuat a = randomMotion(rng);
    const DualQuat b = randomMotion(rng);
    const Vec3d p = randomVector(rng, 2);
    EXPECT_LT(((a * b).point(p) - a.point(b.point(p))).norm(), 1e-13);
  }
}

TEST(DualQuat, InverseUndoesTheMotion) {
  Rng rng(3);
  for (int i = 0; i < 50; ++i) {
    const DualQuat a = randomMotion(rng);
    const Vec3d p = randomVector(rng, 2);
    EXPECT_LT((a.inverse().point(a.point(p)) - p).norm(), 1e-13);
  }
}

TEST(DualQuat, NormalisingKeepsTheMotionOfAScaledOne) {
  Rng rng(4);
  const DualQuat a = randomMotion(rng);
  DualQuat scaled = a;
  scaled.real.coeffs() *= -2.5;
  scaled.dual.coeffs() *= -2.5;
  const DualQuat back = normalised(scaled);
  const Vec3d p(0.3, -1, 2);
  EXPECT_NEAR(back.real.norm(), 1, 1e-15);
  EXPECT_NEAR(back.real.dot(back.dual), 0, 1e-15);
  EXPECT_LT((back.point(p) - a.point(p)).norm(), 1e-14);
}

TEST(DualQuat, NormalisingNothingGivesTheIdentity) {
  DualQuat nothing;
  nothing.real.coeffs().setZero();
  EXPECT_EQ(normalised(nothing).point({1, 2, 3}), Vec3d(1, 2, 3));
}

TEST(DualQuat, HalfwayBetweenTwoScrewsIsTheHalfScrew) {
  // Both about one axis: the blend is exact there, rotation and slide alike.
  const Vec3d axis = Vec3d(1, 2, 2) / 3;
  const DualQuat motions[2] = {
      DualQuat{}, DualQuat::fromRigid(Quatd(Eigen::AngleAxisd(1.8, axis)), 0.6 * axis)};
  const double half[2] = {0.5, 0.5};
  const DualQuat wanted = DualQuat::fromRigid(Quatd(Eigen::AngleAxisd(0.9, axis)), 0.3 * axis);
  const Vec3d p(1, -1, 0.5);
  EXPECT_LT((blend(motions, half, 0).point(p) - wanted.point(p)).norm(), 1e-14);
}

TEST(DualQuat, SignOfAMotionDoesNotMatterInABlend) {
  Rng rng(5);
  const std::vector<double> weights = {0.5, 0.3, 0.2};
  for (int i = 0; i < 50; ++i) {
    std::vector<DualQuat> motions = {randomMotion(rng), randomMotion(rng), randomMotion(rng)};
    const Vec3d p = randomVector(rng, 2);
    const Vec3d before = blend(motions, weights, 0).point(p);
    for (const std::size_t k : {std::size_t{0}, std::size_t{2}}) {
      motions[k].real.coeffs() *= -1;
      motions[k].dual.coeffs() *= -1;
      EXPECT_LT((blend(motions, weights, 0).point(p) - before).norm(), 1e-13);
    }
  }
}

TEST(DualQuat, BlendOfOppositeTurnsDoesNotVanish) {
  // A half turn each way: as matrices they would cancel to a flat map at equal weights.
  const DualQuat motions[2] = {
      DualQuat::fromRigid(Quatd(Eigen::AngleAxisd(kPi / 2, Vec3d::UnitZ())), Vec3d::Zero()),
      DualQuat::fromRigid(Quatd(Eigen::AngleAxisd(-kPi / 2, Vec3d::UnitZ())), Vec3d::Zero())};
  const double half[2] = {0.5, 0.5};
  EXPECT_NEAR(blend(motions, half, 0).point({1, 0, 0}).norm(), 1, 1e-15);
}

}  // namespace
}  // namespace derm::dual_quat_test
