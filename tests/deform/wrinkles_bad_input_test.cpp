// Tools that make no sense, and surfaces that make it hard.
#include <cmath>

#include <gtest/gtest.h>

#include "derm/deform/wrinkles.h"

#include "deform/wrinkle_rig.h"

namespace derm::wrinkles_bad_input_test {
namespace {

using namespace testing_support;

std::string bindError(Character c, const WrinkleToolDesc& tool) {
  Diagnostics notes;
  const auto stack =
      Stack::bind(std::make_shared<const Character>(std::move(c)), withTools({tool}), notes);
  return stack ? "no error" : stack.error().text();
}

TEST(WrinklesBadInput, BadToolsAreNamed) {
  WrinkleToolDesc tool = sheetTool();
  tool.path[1] = tool.path[0];
  EXPECT_NE(bindError(squeezable(sheet(8)), tool).find("A and B must differ"), std::string::npos);
  tool = sheetTool();
  tool.path[1] = pick(0.1001, 0, 0);
  EXPECT_NE(bindError(squeezable(sheet(8)), tool).find("A and B must differ"), std::string::npos)
      << "snapped to one vertex";
  tool.path.resize(1);
  EXPECT_NE(bindError(squeezable(sheet(8)), tool).find("has 1"), std::string::npos);
  tool = sheetTool();
  tool.path[0] = {.vertex = 99999};
  EXPECT_NE(bindError(squeezable(sheet(8)), tool).find("no vertex 99999; the surface has 81"),
            std::string::npos);
  tool = sheetTool();
  tool.width_m = 0;
  EXPECT_NE(bindError(squeezable(sheet(8)), tool).find("tool \"folds\" width_m: must be above 0"),
            std::string::npos);
  tool = sheetTool();
  tool.curve.h_max = 0;
  EXPECT_NE(bindError(squeezable(sheet(8)), tool).find("tool \"folds\" h_max_m: must be above 0"),
            std::string::npos);
  tool = sheetTool();
  tool.curve.shares = {0.8, 0.1};
  EXPECT_NE(bindError(squeezable(sheet(8)), tool).find("sum to 0.9"), std::string::npos);
  tool = sheetTool();
  tool.defined_at = WrinklePose{"squeez", 0};
  EXPECT_NE(bindError(squeezable(sheet(8)), tool).find("did you mean \"squeeze\""),
            std::string::npos);
  tool = sheetTool();
  tool.rest_length_m = 0;
  EXPECT_NE(bindError(squeezable(sheet(8)), tool).find("rest_length_m"), std::string::npos);
  Character bare = squeezable(sheet(8));
  bare.mesh.normals.clear();
  EXPECT_NE(bindError(bare, sheetTool()).find("need normals"), std::string::npos);
}

TEST(WrinklesBadInput, PointsOnDifferentPiecesAreRefused) {
  TriMesh two = sheet(8);
  const auto first = std::uint32_t(two.vertexCount());
  const TriMesh other = sheet(8);
  for (const Vec3f& p : other.positions) two.positions.push_back(p + Vec3f(0, 0.5f, 0));
  two.normals.insert(two.normals.end(), other.normals.begin(), other.normals.end());
  for (const Triangle& t : other.triangles)
    two.triangles.push_back({first + t[0], first + t[1], first + t[2]});
  WrinkleToolDesc tool = sheetTool();
  tool.path[1] = pick(0.9, 0.5, 0);
  EXPECT_NE(bindError(squeezable(two), tool).find("different pieces"), std::string::npos);
}

TEST(WrinklesBadInput, MorePointsThanTheMeshCanShowAreNoted) {
  WrinkleToolDesc tool = sheetTool();
  tool.curve.points = 301;
  tool.subdivide = 1;
  EXPECT_EQ(Folded(squeezable(sheet(8)), {tool}).notes.count("wrinkles-too-fine"), 1u);
  tool.curve.points = 9;
  tool.subdivide = 2;
  EXPECT_EQ(Folded(squeezable(sheet(8)), {tool}).notes.count("wrinkles-too-fine"), 0u);
}

TEST(WrinklesBadInput, DegenerateAndNonManifoldTrianglesUnderAToolAreNotedAndHarmless) {
  TriMesh mesh = sheet(8);
  mesh.triangles.push_back({40, 40, 41});
  const auto fin = std::uint32_t(mesh.vertexCount());
  mesh.positions.push_back(Vec3f(0.5f, 0.3f, 0));
  mesh.normals.push_back(Vec3f(0, 1, 0));
  mesh.triangles.push_back({39, 40, fin});  // a third triangle on an edge of the middle row
  Folded f(squeezable(mesh), {sheetTool()});
  EXPECT_GT(f.notes.count("wrinkles-degenerate"), 0u);
  EXPECT_GT(f.notes.count("wrinkles-non-manifold"), 0u);
  for (const double time : {0.0, 0.5, 1.0})
    for (const Vec3f& p : f.at(time).positions()) ASSERT_TRUE(p.allFinite());
}

TEST(WrinklesBadInput, EndsThatMeetGiveFiniteFolds) {
  Character c = squeezable(sheet(16));
  c.clips[0].tracks[0].values[3] = 0;  // squeezed to nothing
  WrinkleToolDesc tool = sheetTool();
  tool.curve.shares = {0.7, 0.3};
  Folded f(c, {tool});
  for (const double time : {0.999, 0.999999, 1.0}) {
    const SkinFrame& frame = f.at(time);
    for (const Vec3f& p : frame.positions()) ASSERT_TRUE(p.allFinite() && p.norm() < 2);
    for (const Vec3f& n : frame.normals()) ASSERT_NEAR(n.norm(), 1, 1e-3);
  }
}

}  // namespace
}  // namespace derm::wrinkles_bad_input_test
