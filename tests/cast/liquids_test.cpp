#include "derm/cast/liquids.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include <gtest/gtest.h>

#include "derm/implicit/polygonise.h"
#include "derm/mesh/closedness.h"

namespace derm::liquids_test {
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

TEST(CastLiquids, AFallingDropKeepsItsShape) {
  CastLiquid drop = makeCastLiquid("drop").value();
  const auto offsets = [&] {
    const std::vector<Vec3f>& x = drop.system.particles().positions;
    Vec3d middle = Vec3d::Zero();
    for (const Vec3f& p : x) middle += p.cast<double>() / double(x.size());
    std::vector<Vec3d> out;
    for (const Vec3f& p : x) out.push_back(p.cast<double>() - middle);
    return out;
  };
  const std::vector<Vec3d> before = offsets();
  drop.system.advance(0.25);  // half-way to the floor
  const std::vector<Vec3d> after = offsets();
  double max = 0;
  for (std::size_t i = 0; i < before.size(); ++i)
    max = std::max(max, (after[i] - before[i]).norm());
  std::printf("most that a particle moves in its drop: %.2f of its radius\n",
              max / drop.system.desc().radius_m);
  EXPECT_LT(max, drop.system.desc().radius_m);  // from a lattice: six of them
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
}  // namespace derm::liquids_test
