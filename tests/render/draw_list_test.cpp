#include "derm/render/draw_list.h"

#include <limits>

#include <gtest/gtest.h>

#include "support/shelf.h"

namespace derm::draw_list_test {
namespace {

TEST(DrawList, EveryShelfMeshIsAValidSurface) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    DrawList list;
    list.surfaces.push_back(drawSurfaceOf(m.mesh));
    const auto valid = validate(list);
    EXPECT_TRUE(valid.ok()) << valid.error().text();
  }
}

TEST(DrawList, WrongDataIsNamedWithItsIndex) {
  const TriMesh cube = shelf::cube();
  const auto error = [&](auto&& spoil) {
    DrawList list;
    list.surfaces.push_back(drawSurfaceOf(cube));
    list.lines.push_back({{Vec3f::Zero(), Vec3f::Ones()}, {Vec4f::Ones()}});
    list.points.push_back({{Vec3f::Zero()}, {Vec4f::Ones()}});
    spoil(list);
    const auto result = validate(list);
    return result.ok() ? std::string("none") : result.error().text();
  };
  EXPECT_EQ(error([](DrawList&) {}), "none");
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(error([](DrawList& l) { l.surfaces[0].normals = {}; }), "surfaces[0]"));
  const std::vector<Triangle> beyond = {{0, 1, 2}, {0, 1, 99}};
  EXPECT_TRUE(has(error([&](DrawList& l) { l.surfaces[0].triangles = beyond; }),
                  "surfaces[0].triangles[1]"));
  std::vector<Vec3f> not_finite = cube.positions;
  not_finite[3].y() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(has(error([&](DrawList& l) { l.surfaces[0].positions = not_finite; }),
                  "surfaces[0].positions[3]"));
  EXPECT_TRUE(
      has(error([](DrawList& l) { l.surfaces[0].parts[0].first_triangle = 1; }), "parts[0]"));
  EXPECT_TRUE(
      has(error([](DrawList& l) { l.surfaces[0].parts[0].material.roughness = 2; }), "roughness"));
  EXPECT_TRUE(has(error([](DrawList& l) { l.surfaces[0].opacity = -1; }), "opacity"));
  EXPECT_TRUE(has(error([](DrawList& l) { l.lines[0].points.pop_back(); }), "lines[0]"));
  EXPECT_TRUE(has(error([](DrawList& l) { l.lines[0].colours.clear(); }), "0 colours"));
  EXPECT_TRUE(has(error([](DrawList& l) { l.lines[0].width_px = 0; }), "width"));
  EXPECT_TRUE(has(error([](DrawList& l) { l.points[0].diameter_px = NAN; }), "points[0]"));
  EXPECT_TRUE(has(error([](DrawList& l) { l.ground.height_m = NAN; }), "ground"));
}

TEST(DrawList, TheStageIsWhatCastsShadowsUnlessGiven) {
  const TriMesh cube = shelf::cube(), ball = shelf::sphere(4, 6, 5.0f);
  DrawList list;
  list.surfaces.push_back(drawSurfaceOf(cube));
  list.surfaces.push_back(drawSurfaceOf(ball));
  list.surfaces[1].casts_shadow = false;
  EXPECT_EQ(list.stageBounds(), bounds(cube.positions));
  list.surfaces[0].casts_shadow = false;
  EXPECT_EQ(list.stageBounds().high.y(), 5.0f);
  list.stage = bounds(cube.positions);
  EXPECT_EQ(list.stageBounds(), bounds(cube.positions));
  EXPECT_TRUE(DrawList().stageBounds().empty());
}

TEST(DrawList, KeptDataStaysWhereItIsWhenTheListMoves) {
  DrawList list;
  for (int i = 0; i < 100; ++i)
    list.surfaces.push_back(drawSurfaceOf(list.keep(shelf::cube(1.0f + float(i)))));
  const DrawList moved = std::move(list);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(moved.surfaces[std::size_t(i)].positions[7].x(), 0.5f * (1.0f + float(i)));
}

}  // namespace
}  // namespace derm::draw_list_test
