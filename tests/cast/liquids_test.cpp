#include "derm/cast/liquids.h"

#include <gtest/gtest.h>

#include "derm/implicit/polygonise.h"
#include "derm/mesh/closedness.h"

namespace derm {
namespace {

TEST(CastLiquids, EveryOneRunsAndStaysFinite) {
  for (const CastMember& m : castLiquids()) {
    SCOPED_TRACE(m.name);
    Result<CastLiquid> liquid = makeCastLiquid(m.name);
    ASSERT_TRUE(liquid.ok()) << liquid.error().text();
    liquid->system.advance(0.5);
    EXPECT_GT(liquid->system.particles().size(), 40u);
    EXPECT_TRUE(validate(liquid->system.particles(), m.name).ok());
  }
  const Result<CastLiquid> unknown = makeCastLiquid("drip");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().text().find("drop"), std::string::npos);
}

TEST(CastShapes, AreClosedAndOfTheTopologyTheirNamesSay) {
  const struct {
    const char* name;
    int euler_number;
    std::size_t pieces;
  } shapes[] = {{"sphere", 2, 1},      {"torus", 0, 1}, {"six-blobs", 2, 1},
                {"two-spheres", 4, 2}, {"screw", 2, 1}, {"letter-d", 0, 1}};
  for (const auto& shape : shapes) {
    SCOPED_TRACE(shape.name);
    const Result<Character> c = makeCastMember(shape.name);
    ASSERT_TRUE(c.ok());
    EXPECT_TRUE(validate(*c).ok());
    EXPECT_TRUE(checkClosed(c->mesh.triangles).closed());
    const SurfaceMeasures m = measured(c->mesh);
    EXPECT_EQ(m.euler_number, shape.euler_number);
    EXPECT_EQ(m.pieces.size(), shape.pieces);
    EXPECT_GT(m.volume, 0);
  }
}

}  // namespace
}  // namespace derm
