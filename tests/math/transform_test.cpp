#include "derm/math/transform.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::transform_test {
namespace {

Quatf randomRotation(Rng& rng) {
  return Quatf(float(rng.uniform(-1, 1)), float(rng.uniform(-1, 1)), float(rng.uniform(-1, 1)),
               float(rng.uniform(-1, 1)))
      .normalized();
}

TEST(Transform, DecomposeGivesBackTranslationRotationScaleAndMirror) {
  Rng rng(3);
  for (int i = 0; i < 200; ++i) {
    Transform t;
    t.rotation = randomRotation(rng);
    t.translation = Vec3f(1, 2, 3) * float(rng.uniform(-5, 5));
    for (int a = 0; a < 3; ++a) t.scale[a] = float(std::exp(rng.uniform(-3, 3)));
    if (i % 2 == 1) t.scale[i % 3] *= -1;
    const Decomposed d = decompose(t.matrixd());
    EXPECT_LT(d.shear, 1e-6);
    const float largest = t.matrix().matrix().cwiseAbs().maxCoeff();
    EXPECT_LT((d.transform.matrix().matrix() - t.matrix().matrix()).cwiseAbs().maxCoeff(),
              4e-6f * largest);
  }
}

TEST(Transform, DecomposeReportsShearAndSurvivesSingularMatrices) {
  Affine3d sheared = Affine3d::Identity();
  sheared.linear()(0, 1) = 0.5;
  EXPECT_GT(decompose(sheared).shear, 0.1);
  sheared.translation() = Vec3d(0, 1e6, 0);  // far away, or in millimetres
  EXPECT_GT(decompose(sheared).shear, 0.1);
  Affine3d flat = Affine3d::Identity();
  flat.linear().col(1).setZero();
  const Decomposed d = decompose(flat);
  EXPECT_LT(d.shear, 1e-12);
  EXPECT_TRUE(d.transform.matrix().matrix().allFinite());
  Affine3d zero = Affine3d::Identity();
  zero.linear().setZero();
  EXPECT_TRUE(decompose(zero).transform.matrix().matrix().allFinite());
  Affine3d broken = Affine3d::Identity();
  broken.linear()(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(decompose(broken).shear, 1.0);
  EXPECT_TRUE(decompose(broken).transform.matrix().matrix().allFinite());
}

TEST(Transform, SlerpHalfWayOfThirtyDegreesIsFifteen) {
  const Quatf a = Quatf::Identity();
  const Quatf b(Eigen::AngleAxisf(float(std::numbers::pi / 6), Vec3f::UnitY()));
  const Quatf half = slerp(a, b, 0.5f);
  EXPECT_NEAR(half.angularDistance(a), std::numbers::pi / 12, 1e-6);
  Quatf opposite = b;
  opposite.coeffs() = -opposite.coeffs();
  EXPECT_NEAR(slerp(a, opposite, 0.5f).angularDistance(half), 0, 1e-6);
}

TEST(Transform, SlerpEndsAreExactAndNearlyEqualOnesDoNotDivideByZero) {
  const Quatf a = Quatf::Identity();
  const Quatf b(Eigen::AngleAxisf(1e-7f, Vec3f::UnitX()));
  EXPECT_TRUE(slerp(a, b, 0.3f).coeffs().allFinite());
  EXPECT_EQ(slerp(a, a, 0.7f).coeffs(), a.coeffs());
}

TEST(Transform, InverseTellsSingularFromSmall) {
  bool ok = false;
  Affine3d small = Affine3d::Identity();
  small.linear() *= 1e-9;
  const Affine3d back = inverseOrIdentity(small, ok);
  EXPECT_TRUE(ok);
  EXPECT_NEAR(back.linear()(0, 0), 1e9, 1);
  Affine3d flat = Affine3d::Identity();
  flat.linear()(2, 2) = 0;
  EXPECT_TRUE(inverseOrIdentity(flat, ok).isApprox(Affine3d::Identity()));
  EXPECT_FALSE(ok);
}

TEST(Transform, NormalisingNothingGivesTheIdentity) {
  EXPECT_EQ(normalisedOrIdentity(Quatf(0, 0, 0, 0)).coeffs(), Quatf::Identity().coeffs());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(normalisedOrIdentity(Quatf(nan, 0, 0, 0)).coeffs(), Quatf::Identity().coeffs());
}

}  // namespace
}  // namespace derm::transform_test
