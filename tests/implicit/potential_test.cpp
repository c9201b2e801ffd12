#include "derm/implicit/potential.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "derm/implicit/build_potential.h"
#include "derm/implicit/shape_targets.h"

namespace derm::potential_test {
namespace {

TEST(Potential, TellsInsideDepthAndNormalOfABallAnywhere) {
  const Vec3d centre(30, -20, 10);
  const Result<Potential> p = buildPotential(SphereTarget(centre, 0.5), {.voxel_m = 0.02});
  ASSERT_TRUE(p.ok());
  for (int i = 0; i < 300; ++i) {
    const double a = 1.7 * i, b = 0.37 * i;
    const Vec3d way(std::cos(a) * std::cos(b), std::sin(b), std::sin(a) * std::cos(b));
    const double r = 0.5 + 0.02 * std::sin(0.3 * i);  // one voxel either way
    const ContactSample c = p->contactAt(centre + r * way);
    EXPECT_NEAR(c.depth_m, 0.5 - r, 0.003);
    EXPECT_EQ(c.inside, c.depth_m > 0);
    EXPECT_GT(c.normal.dot(way), 0.99);
    EXPECT_NEAR(p->gradientAt(centre + r * way).norm(), 1, 0.15);
  }
  EXPECT_TRUE(p->contactAt(centre).inside);  // no block there
  EXPECT_FALSE(p->contactAt(centre + Vec3d(2, 0, 0)).inside);
}

TEST(Potential, TakesAnyNumberForAPoint) {
  const Result<Potential> p = buildPotential(SphereTarget(Vec3d::Zero(), 0.5), {.voxel_m = 0.1});
  ASSERT_TRUE(p.ok());
  const double odd[] = {std::nan(""), std::numeric_limits<double>::infinity(), 1e300, -1e18};
  for (const double x : odd) {
    const ContactSample c = p->contactAt(Vec3d(x, 0, 0));
    EXPECT_FALSE(c.inside);
    EXPECT_TRUE(std::isfinite(c.depth_m));
    EXPECT_TRUE(c.normal.allFinite());
    EXPECT_EQ(p->gradientAt(Vec3d(0, x, 0)), Vec3d(Vec3d::Zero()));
  }
}

}  // namespace
}  // namespace derm::potential_test
