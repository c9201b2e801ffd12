#include "derm/mesh/normal_update.h"

#include <vector>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/normals.h"
#include "derm/mesh/weld.h"

#include "support/compare.h"
#include "support/shelf.h"

namespace derm::normal_update_test {
namespace {

using testing_support::kFloatEps;
using testing_support::maxDistance;

std::vector<Vec3f> updated(const TriMesh& rest, std::span<const Vec3f> after) {
  std::vector<Vec3f> normals = rest.normals;
  std::vector<Vec3f> areas(rest.triangles.size());
  NormalUpdate(rest).evaluate(rest.positions, after, areas, normals);
  return normals;
}

std::vector<Vec3f> turned(std::span<const Vec3f> in, const Mat3f& rotation, const Vec3f& shift) {
  std::vector<Vec3f> out;
  for (const Vec3f& v : in) out.push_back(rotation * v + shift);
  return out;
}

Mat3f someRotation() {
  return Eigen::AngleAxisf(1.1f, Eigen::Vector3f(1, -2, 0.5f).normalized()).toRotationMatrix();
}

/// Normals no area-weighting would give.
TriMesh withAuthoredNormals(TriMesh mesh) {
  for (Vec3f& n : mesh.normals) n = (n + Vec3f(0.3f, 0.2f, -0.1f)).normalized();
  return mesh;
}

TEST(NormalUpdate, AMeshAtRestKeepsItsNormals) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    // Area-weighted normals are summed in float here and in another order there.
    EXPECT_LT(maxDistance(updated(m.mesh, m.mesh.positions), m.mesh.normals), 64 * kFloatEps);
    const TriMesh authored = withAuthoredNormals(m.mesh);
    EXPECT_LT(maxDistance(updated(authored, authored.positions), authored.normals), 8 * kFloatEps);
  }
}

TEST(NormalUpdate, MovingBeforeAndAfterRigidlyTurnsTheResult) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    if (m.name == "sphere far away") continue;  // its edges keep only 10 bits
    SCOPED_TRACE(m.name);
    const float size = static_cast<float>(bounds(m.mesh.positions).diagonal());
    const Vec3f shift = size * Vec3f(0.1f, 0.3f, -0.2f);
    std::vector<Vec3f> after = m.mesh.positions;
    for (Vec3f& p : after) p.x() += 0.2f * p.y();
    for (const TriMesh& mesh : {m.mesh, withAuthoredNormals(m.mesh)}) {
      const NormalUpdate update(mesh);
      std::vector<Vec3f> areas(update.triangleCount());
      std::vector<Vec3f> plain = mesh.normals;
      update.evaluate(mesh.positions, after, areas, plain);
      std::vector<Vec3f> moved = turned(mesh.normals, someRotation(), Vec3f::Zero());
      update.evaluate(turned(mesh.positions, someRotation(), shift),
                      turned(after, someRotation(), shift), areas, moved);
      // Edges of 1/16 of the size keep 20 of float's 24 bits.
      EXPECT_LT(maxDistance(moved, turned(plain, someRotation(), Vec3f::Zero())), 1e-4f);
      for (const Vec3f& n : moved) EXPECT_NEAR(n.norm(), 1.0f, 1e-5f);
    }
  }
}

TEST(NormalUpdate, ARigidlyMovedMeshHasRigidlyTurnedNormals) {
  const TriMesh mesh = shelf::sphere(12, 16, 0.5f);
  const std::vector<Vec3f> got =
      updated(mesh, turned(mesh.positions, someRotation(), Vec3f(1, 2, 3)));
  EXPECT_LT(maxDistance(got, turned(mesh.normals, someRotation(), Vec3f::Zero())), 1e-5f);
}

TEST(NormalUpdate, AnAuthoredNormalKeepsItsAngleToTheSurface) {
  const TriMesh mesh = withAuthoredNormals(shelf::sphere(12, 16, 0.5f));
  const std::vector<Vec3f> moved = turned(mesh.positions, someRotation(), Vec3f::Zero());
  const std::vector<Vec3f> area_before = areaWeightedNormals(mesh.positions, mesh.triangles);
  const std::vector<Vec3f> area_after = areaWeightedNormals(moved, mesh.triangles);
  const std::vector<Vec3f> got = updated(mesh, moved);
  for (std::size_t v = 0; v < got.size(); ++v)
    EXPECT_NEAR(got[v].dot(area_after[v]), mesh.normals[v].dot(area_before[v]), 1e-4f) << v;
}

TEST(NormalUpdate, HardEdgesStayHard) {
  const TriMesh mesh = shelf::cubeWithSplitFaces();
  std::vector<Vec3f> stretched = mesh.positions;
  for (Vec3f& p : stretched) p = p.cwiseProduct(Vec3f(2, 1, 0.5f));
  EXPECT_LT(maxDistance(updated(mesh, stretched), mesh.normals), 8 * kFloatEps);
}

TEST(NormalUpdate, ASeamKeepsOneNormalOnBothSides) {
  TriMesh mesh = shelf::cubeWithSplitFaces();
  mesh.normals = areaWeightedNormals(mesh.positions, mesh.triangles, weldMap(mesh.positions));
  std::vector<Vec3f> sheared = mesh.positions;
  for (Vec3f& p : sheared) p.x() += 0.4f * p.y() * p.y() + 0.1f * p.z();
  const std::vector<Vec3f> got = updated(mesh, sheared);
  const std::vector<std::uint32_t> weld = weldMap(mesh.positions);
  std::size_t doubles = 0;
  for (std::size_t v = 0; v < got.size(); ++v) {
    EXPECT_EQ(got[v], got[weld[v]]);
    doubles += weld[v] != v;
  }
  EXPECT_EQ(doubles, 16u);
  EXPECT_GT(maxDistance(got, mesh.normals), 0.05f);
  EXPECT_LT(maxDistance(got, areaWeightedNormals(sheared, mesh.triangles, weld)), 64 * kFloatEps);
}

TEST(NormalUpdate, SmoothOnesAreThoseOfThePositionsAndTheArtistsStay) {
  const TriMesh smooth = shelf::sphere(12, 16, 0.5f), own = withAuthoredNormals(smooth);
  std::vector<Vec3f> sheared = smooth.positions;
  for (Vec3f& p : sheared) p.x() += 0.4f * p.y();
  std::vector<Vec3f> areas(smooth.triangles.size());
  std::vector<Vec3f> normals(smooth.vertexCount(), Vec3f::UnitX());  // whatever was there
  NormalUpdate(smooth).evaluateSmooth(sheared, areas, normals);
  EXPECT_LT(maxDistance(normals,
                        areaWeightedNormals(sheared, smooth.triangles, weldMap(smooth.positions))),
            64 * kFloatEps);
  const std::vector<Vec3f> skinned(own.vertexCount(), Vec3f::UnitX());
  normals = skinned;
  NormalUpdate(own).evaluateSmooth(sheared, areas, normals);
  EXPECT_EQ(normals, skinned);
}

TEST(NormalUpdate, AVertexWithoutAreaKeepsItsNormal) {
  const TriMesh mesh = withAuthoredNormals(shelf::cube());
  const std::vector<Vec3f> flat(mesh.vertexCount(), Vec3f(1, 2, 3));
  EXPECT_EQ(updated(mesh, flat), mesh.normals);
}

TEST(NormalUpdate, ManyVerticesAtOnePositionCostNoMoreThanElsewhere) {
  // With a row of triangles per vertex this would take 10^10 entries.
  TriMesh mesh;
  mesh.positions.assign(100000, Vec3f::Zero());
  mesh.normals.assign(100000, Vec3f(0, 1, 0));
  for (std::uint32_t v = 0; v + 2 < 100000; ++v) mesh.triangles.push_back({v, v + 1, v + 2});
  EXPECT_EQ(updated(mesh, mesh.positions), mesh.normals);
  for (std::size_t v = 0; v < 100000; ++v)
    mesh.normals[v] = Vec3f(float(v), 1, float(v % 331)).normalized();
  EXPECT_EQ(updated(mesh, mesh.positions), mesh.normals);
}

TEST(NormalUpdate, AllThreadCountsGiveTheSameBits) {
  const TriMesh mesh = withAuthoredNormals(shelf::sphere(120, 160, 0.5f));
  std::vector<Vec3f> moved = mesh.positions;
  for (Vec3f& p : moved) p *= 1 + 0.3f * std::sin(9 * p.y());
  std::vector<std::vector<Vec3f>> results;
  for (const int threads : {1, 2, 8}) {
    const ThreadLimit limit(threads);
    results.push_back(updated(mesh, moved));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

}  // namespace
}  // namespace derm::normal_update_test
