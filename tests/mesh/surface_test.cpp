#include <limits>

#include <gtest/gtest.h>

#include "derm/mesh/morph_target.h"
#include "derm/mesh/normals.h"
#include "derm/mesh/tri_mesh.h"
#include "derm/mesh/weld.h"

#include "support/shelf.h"

namespace derm::surface_test {
namespace {

TEST(Normals, SphereNormalsPointOutwards) {
  const TriMesh m = shelf::sphere(24, 32, 2.0f);
  for (std::size_t v = 0; v < m.vertexCount(); ++v)
    EXPECT_GT(m.normals[v].dot(m.positions[v].normalized()), 0.995f);
}

TEST(Normals, AreUnitAndFiniteOnTheWholeShelf) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    for (const Vec3f& n : areaWeightedNormals(m.mesh.positions, m.mesh.triangles))
      EXPECT_NEAR(n.norm(), 1.0f, 1e-5f);
  }
}

TEST(Normals, WeldingGivesSplitVerticesOneNormal) {
  const TriMesh m = shelf::cubeWithSplitFaces();
  const std::vector<std::uint32_t> weld = weldMap(m.positions);
  const std::vector<Vec3f> n = areaWeightedNormals(m.positions, m.triangles, weld);
  for (std::size_t v = 0; v < n.size(); ++v) EXPECT_EQ(n[v], n[weld[v]]);
}

TEST(Tangents, FollowUAndTheSignFollowsTheUvOrientation) {
  TriMesh m;  // a quad in the xy plane, u along +x; v runs down the picture, as glTF's does
  m.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  m.uvs = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  m.triangles = {{0, 1, 2}, {0, 2, 3}};
  m.normals = areaWeightedNormals(m.positions, m.triangles);
  for (const Vec4f& t : uvTangents(m)) EXPECT_LT((t - Vec4f(1, 0, 0, 1)).norm(), 1e-6f);
  for (Vec2f& uv : m.uvs) uv.x() = 1 - uv.x();  // mirrored picture
  for (const Vec4f& t : uvTangents(m)) EXPECT_LT((t - Vec4f(-1, 0, 0, -1)).norm(), 1e-6f);
}

TEST(Tangents, AreUnitOrthogonalAndFiniteEvenWithoutUvs) {
  TriMesh m = shelf::sphere(8, 12, 1);
  for (int with_uvs = 0; with_uvs < 2; ++with_uvs) {
    if (with_uvs == 1) m.uvs.assign(m.vertexCount(), Vec2f(0.5f, 0.5f));
    const std::vector<Vec4f> tangents = uvTangents(m);
    for (std::size_t v = 0; v < m.vertexCount(); ++v) {
      EXPECT_NEAR(tangents[v].head<3>().norm(), 1, 1e-5);
      EXPECT_NEAR(tangents[v].head<3>().dot(m.normals[v]), 0, 1e-5);
    }
  }
}

TEST(TriMesh, ValidateNamesArrayAndIndex) {
  const TriMesh good = shelf::cube();
  EXPECT_TRUE(validate(good, "m").ok());
  TriMesh m = good;
  m.triangles[3][1] = 8;
  EXPECT_EQ(validate(m, "m").error().text(), "m: triangles[3]: vertex 8 of 8 vertices");
  m = good;
  m.positions[5].y() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(validate(m, "m").error().text(), "m: positions[5]: not a finite number");
  m = good;
  m.normals.pop_back();
  EXPECT_EQ(validate(m, "m").error().text(), "m: normals: 7 entries for 8 vertices");
  m = good;
  m.groups.push_back({"g", {1, 1}, {1, 1}});
  EXPECT_EQ(validate(m, "m").error().where.index, 1u);
  m.groups[0] = {"g", {1, 2}, {1, 2}};
  EXPECT_NE(validate(m, "m").error().message.find("strength"), std::string::npos);
}

TEST(MorphTarget, ValidateNamesTargetAndIndex) {
  MorphTarget t{"smile", 0, {1, 4}, {Vec3f::Zero(), Vec3f::Zero()}, {}, {}};
  EXPECT_TRUE(validate(t, 5, "m").ok());
  EXPECT_EQ(validate(t, 4, "m").error().text(),
            "m: morph target \"smile\"[1]: vertex 4 of 4 vertices");
  t.normals.resize(1, Vec3f::Zero());
  EXPECT_FALSE(validate(t, 5, "m").ok());
}

}  // namespace
}  // namespace derm::surface_test
