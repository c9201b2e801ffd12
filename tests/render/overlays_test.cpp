#include "derm/render/overlays.h"

#include <gtest/gtest.h>

#include "derm/image/colour_map.h"
#include "derm/mesh/measures.h"

#include "support/shelf.h"

namespace derm::overlays_test {
namespace {

TEST(Overlays, AWireframeHasEveryEdgeOnce) {
  const TriMesh cube = shelf::cube();
  DrawList list;
  addWireframe(list, cube.positions, cube.triangles);
  ASSERT_EQ(list.lines.size(), 1u);
  EXPECT_EQ(list.lines[0].points.size(), 2u * 18u);  // 12 edges and 6 diagonals
  EXPECT_TRUE(validate(list).ok());
}

TEST(Overlays, WireframesOfTheWholeShelfAreValid) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    DrawList list;
    addWireframe(list, m.mesh.positions, m.mesh.triangles);
    EXPECT_TRUE(validate(list).ok());
  }
}

TEST(Overlays, ASkeletonReachesFromJointToJoint) {
  const SkeletonJoint joints[] = {{Vec3f(0, 0, 0), -1}, {Vec3f(0, 1, 0), 0}, {Vec3f(1, 1, 0), 1}};
  DrawList list;
  addSkeleton(list, joints);
  ASSERT_EQ(list.surfaces.size(), 1u);
  EXPECT_TRUE(validate(list).ok());
  EXPECT_TRUE(list.surfaces[0].on_top);
  EXPECT_FALSE(list.surfaces[0].casts_shadow);
  const Bounds b = bounds(list.surfaces[0].positions);
  EXPECT_NEAR(b.low.x(), 0, 0.1);
  EXPECT_NEAR(b.high.x(), 1, 0.1);
  EXPECT_NEAR(b.high.y(), 1, 0.1);
}

TEST(Overlays, BonesAndBallsFaceOutwards) {
  const SkeletonJoint joints[] = {{Vec3f(0, 0, 0), -1}, {Vec3f(0.3f, 1, 0.2f), 0}};
  DrawList list;
  addSkeleton(list, joints);
  const DrawSurface& s = list.surfaces[0];
  EXPECT_GT(volume(s.positions, s.triangles), 0);
  for (const Triangle& t : s.triangles) {
    const Vec3f face = Vec3f(s.positions[t[1]] - s.positions[t[0]])
                           .cross(Vec3f(s.positions[t[2]] - s.positions[t[0]]));
    EXPECT_GT(face.dot(s.normals[t[0]]), 0);
  }
}

TEST(Overlays, OddSkeletonsDrawWhatTheyCan) {
  DrawList list;
  addSkeleton(list, {});
  EXPECT_TRUE(list.surfaces.empty());
  // A parent out of range, one after its child, two joints at one position, a lonely joint.
  const SkeletonJoint joints[] = {{Vec3f(0, 0, 0), 7}, {Vec3f(1, 0, 0), 2}, {Vec3f(1, 0, 0), 1}};
  addSkeleton(list, joints);
  EXPECT_TRUE(validate(list).ok());
  const SkeletonJoint lonely[] = {{Vec3f(2, 2, 2), -1}};
  addSkeleton(list, lonely);
  EXPECT_GT(list.surfaces.back().triangles.size(), 0u);
}

TEST(Overlays, TheFieldHasAStrokeForEachVertexThatMoved) {
  std::vector<Vec3f> before(10, Vec3f::Zero()), after = before;
  for (std::size_t i = 0; i < 10; ++i) before[i].x() = after[i].x() = float(i);
  after[4].y() = 0.5f;
  after[7].y() = 0.01f;
  DrawList list;
  EXPECT_EQ(addDisplacementField(list, before, after), 2u);
  EXPECT_EQ(list.lines[0].points[1], Vec3f(4, 0.5f, 0));
  FieldStyle style;
  style.scale = 3;
  style.min_m = 0.1f;
  EXPECT_EQ(addDisplacementField(list, before, after, style), 1u);
  EXPECT_EQ(list.lines[1].points[1], Vec3f(4, 1.5f, 0));
  style.stride = 5;
  EXPECT_EQ(addDisplacementField(list, before, after, style), 0u);
  EXPECT_EQ(list.lines.size(), 2u);
}

TEST(Overlays, AHeatMapReplacesColoursAndMaterials) {
  TriMesh cube = shelf::cube();
  DrawList list;
  DrawSurface s = drawSurfaceOf(cube);
  std::vector<float> values(8, 0.0f);
  values[2] = 0.5f;
  showHeatMap(list, s, values);
  EXPECT_EQ(s.colours[0], zeroColour());
  EXPECT_EQ(s.colours[2], mapColour(0.5f));
  EXPECT_EQ(s.parts.size(), 1u);
  EXPECT_EQ(s.parts[0].material.base_colour, Vec4f(Vec4f::Ones()));
  list.surfaces.push_back(s);
  EXPECT_TRUE(validate(list).ok());
}

TEST(Overlays, OneColourReplacesColoursAndMaterials) {
  const TriMesh ball = shelf::sphere(8, 12, 1.0f);
  DrawList list;
  DrawSurface surface = drawSurfaceOf(ball);
  showInOneColour(surface, Vec4f(0.1f, 0.2f, 0.3f, 1));
  ASSERT_EQ(surface.parts.size(), 1u);
  EXPECT_EQ(surface.parts[0].material.base_colour, Vec4f(0.1f, 0.2f, 0.3f, 1));
  list.surfaces.push_back(surface);
  EXPECT_TRUE(validate(list).ok());
}

TEST(Overlays, DepthGoesFromTheNearestPointToTheFarthest) {
  const TriMesh ball = shelf::sphere(8, 12, 1.0f);
  DrawList list;
  DrawSurface surface = drawSurfaceOf(ball);
  Camera camera;
  camera.eye = Vec3d(0, 5, 0.001);
  showDepth(list, surface, camera);
  float min = 1, max = 0;
  for (std::size_t v = 0; v < ball.positions.size(); ++v) {
    const float depth = surface.colours[v].x();
    EXPECT_NEAR(depth, (1 - ball.positions[v].y()) / 2, 0.01) << v;
    min = std::min(min, depth);
    max = std::max(max, depth);
  }
  EXPECT_EQ(min, 0);
  EXPECT_EQ(max, 1);
  list.surfaces.push_back(surface);
  EXPECT_TRUE(validate(list).ok());
}

}  // namespace
}  // namespace derm::overlays_test
