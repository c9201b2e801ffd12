#include "derm/deform/skin_frame.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "derm/mesh/normals.h"

#include "support/compare.h"
#include "support/shelf.h"

namespace derm::skin_frame_test {
namespace {

using testing_support::maxDistance;

struct Surface {
  explicit Surface(TriMesh m) : mesh(std::move(m)), normals(mesh) {}
  TriMesh mesh;
  NormalUpdate normals;
};

TriMesh withTangents(TriMesh mesh) {
  for (const Vec3f& n : mesh.normals) {
    const Vec3f t = n.unitOrthogonal();
    mesh.tangents.emplace_back(t.x(), t.y(), t.z(), 1.0f);
  }
  return mesh;
}

TEST(SkinFrame, BeginsAsTheRestSurfaceAndBecomesItWhenAsked) {
  const Surface sphere(withTangents(shelf::sphere(6, 8, 1)));
  SkinFrame frame({.max_vertices = sphere.mesh.vertexCount(),
                   .max_triangles = sphere.mesh.triangles.size(),
                   .with_normals = true,
                   .with_tangents = true});
  frame.begin(sphere.mesh, sphere.normals);
  EXPECT_TRUE(frame.isRest());
  EXPECT_EQ(frame.vertexCount(), sphere.mesh.vertexCount());
  frame.materialise();
  EXPECT_FALSE(frame.isRest());
  EXPECT_TRUE(std::ranges::equal(frame.positions(), sphere.mesh.positions));
  EXPECT_TRUE(std::ranges::equal(frame.normals(), sphere.mesh.normals));
  EXPECT_TRUE(std::ranges::equal(frame.tangents(), sphere.mesh.tangents));
  EXPECT_TRUE(std::ranges::equal(frame.triangles(), sphere.mesh.triangles));
}

TEST(SkinFrame, NormalsFollowMovedPositionsOnlyWhenAskedFor) {
  const Surface sphere(withTangents(shelf::sphere(10, 14, 1)));
  SkinFrame frame({.max_vertices = sphere.mesh.vertexCount(),
                   .max_triangles = sphere.mesh.triangles.size(),
                   .with_normals = true,
                   .with_tangents = true});
  frame.begin(sphere.mesh, sphere.normals);
  frame.materialise();
  frame.beforeMoving();
  for (Vec3f& p : frame.positions()) p.x() *= 3;
  EXPECT_TRUE(std::ranges::equal(frame.normals(), sphere.mesh.normals));
  frame.beforeMoving();  // a second layer moves on; the normals still belong to the rest
  for (Vec3f& p : frame.positions()) p.y() *= 0.5f;
  frame.updateNormals();
  const std::vector<Vec3f> want = areaWeightedNormals(frame.positions(), sphere.mesh.triangles);
  EXPECT_LT(maxDistance(frame.normals(), want), 1e-5f);
  for (std::size_t v = 0; v < want.size(); ++v) {
    EXPECT_NEAR(frame.tangents()[v].head<3>().dot(frame.normals()[v]), 0, 1e-5f);
    EXPECT_NEAR(frame.tangents()[v].head<3>().norm(), 1, 1e-5f);
  }
}

TEST(SkinFrame, NormalsAreNotTouchedWithoutAMove) {
  TriMesh mesh = shelf::sphere(10, 14, 1);
  for (Vec3f& n : mesh.normals) n = Vec3f(0.6f, 0.8f, 0);
  const Surface sphere(mesh);
  SkinFrame frame({.max_vertices = mesh.vertexCount(),
                   .max_triangles = mesh.triangles.size(),
                   .with_normals = true,
                   .with_tangents = false});
  frame.begin(sphere.mesh, sphere.normals);
  frame.materialise();
  frame.updateNormals();
  EXPECT_TRUE(std::ranges::equal(frame.normals(), mesh.normals));
}

TEST(SkinFrame, PresentsAnotherTopologyAndGoesBackAtTheNextBegin) {
  const Surface coarse(shelf::cube());
  const Surface fine(shelf::sphere(6, 8, 1));
  SkinFrame frame({.max_vertices = fine.mesh.vertexCount(),
                   .max_triangles = fine.mesh.triangles.size(),
                   .with_normals = true,
                   .with_tangents = false});
  frame.begin(coarse.mesh, coarse.normals);
  const SurfaceOutput out = frame.back(fine.mesh.vertexCount());
  ASSERT_EQ(out.positions.size(), fine.mesh.vertexCount());
  EXPECT_TRUE(out.tangents.empty());
  std::ranges::copy(fine.mesh.positions, out.positions.begin());
  std::ranges::copy(fine.mesh.normals, out.normals.begin());
  frame.present(fine.mesh, fine.normals);
  EXPECT_EQ(frame.vertexCount(), fine.mesh.vertexCount());
  EXPECT_EQ(frame.triangles().size(), fine.mesh.triangles.size());
  EXPECT_TRUE(std::ranges::equal(frame.positions(), fine.mesh.positions));
  frame.begin(coarse.mesh, coarse.normals);
  frame.materialise();
  EXPECT_TRUE(std::ranges::equal(frame.positions(), coarse.mesh.positions));
}

TEST(SkinFrame, AMeshWithoutNormalsHasNone) {
  TriMesh mesh = shelf::cube();
  mesh.normals.clear();
  const Surface cube(mesh);
  SkinFrame frame({.max_vertices = mesh.vertexCount(),
                   .max_triangles = mesh.triangles.size(),
                   .with_normals = false,
                   .with_tangents = false});
  frame.begin(cube.mesh, cube.normals);
  frame.materialise();
  frame.beforeMoving();
  frame.positions()[0] += Vec3f(1, 0, 0);
  frame.updateNormals();
  EXPECT_TRUE(frame.normals().empty());
}

}  // namespace
}  // namespace derm::skin_frame_test
