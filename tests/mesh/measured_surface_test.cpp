#include "derm/mesh/measured_surface.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/measures.h"

#include "support/shelf.h"

namespace derm::measured_surface_test {
namespace {

MeasuredSurface measured(const TriMesh& mesh, Diagnostics& notes) {
  return makeMeasuredSurface(mesh.positions, mesh.triangles, "mesh", notes);
}

/// Volume of the measured form of a mesh, its positions shifted.
double measuredVolume(const MeasuredSurface& s, const TriMesh& mesh, const Vec3d& origin) {
  std::vector<Vec3d> points(s.pointCount());
  measurePoints(s, mesh.positions, origin, points);
  double sum = 0;
  for (const Triangle& t : s.triangles)
    sum += points[t[0]].dot(points[t[1]].cross(points[t[2]])) / 6;
  return sum;
}

/// Every directed edge as often as its reverse: then the volume does not depend on the origin.
bool isCycle(const MeasuredSurface& s) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> there, back;
  for (const Triangle& t : s.triangles)
    for (int c = 0; c < 3; ++c) {
      there.emplace_back(t[c], t[(c + 1) % 3]);
      back.emplace_back(t[(c + 1) % 3], t[c]);
    }
  std::sort(there.begin(), there.end());
  std::sort(back.begin(), back.end());
  return there == back;
}

TEST(MeasuredSurface, IsClosedAndFreeOfTheOriginForEveryMeshOfTheShelf) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    Diagnostics notes;
    const MeasuredSurface s = measured(m.mesh, notes);
    EXPECT_TRUE(isCycle(s));
    const Vec3d centre = centroid(m.mesh.positions);
    const double size = bounds(m.mesh.positions).diagonal();
    EXPECT_NEAR(measuredVolume(s, m.mesh, centre),
                measuredVolume(s, m.mesh, centre + size * Vec3d(1, 2, 3)),
                1e-12 * size * size * size);
    if (m.closed) {
      EXPECT_EQ(s.apexCount(), 0u);
      EXPECT_NEAR(measuredVolume(s, m.mesh, centre), volume(m.mesh.positions, m.mesh.triangles),
                  1e-13 * size * size * size);
    }
  }
}

TEST(MeasuredSurface, ClosesATubeWithFlatCaps) {
  const TriMesh tube = shelf::tube(9, 24, 0.5f, 3.0f);
  Diagnostics notes;
  const MeasuredSurface s = measured(tube, notes);
  EXPECT_EQ(s.apexCount(), 2u);
  EXPECT_EQ(notes.count("measure-closed-border"), 2u);
  const double ring = 0.5 * 24 * 0.25 * std::sin(2 * std::numbers::pi / 24);
  EXPECT_NEAR(std::abs(measuredVolume(s, tube, Vec3d(0, 0, 1))), 3 * ring, 1e-6);
}

TEST(MeasuredSurface, UndoesAFlippedTriangleAndSaysSo) {
  TriMesh cube = shelf::cube(2.0f);
  std::swap(cube.triangles[3][0], cube.triangles[3][1]);
  Diagnostics notes;
  const MeasuredSurface s = measured(cube, notes);
  EXPECT_TRUE(isCycle(s));
  EXPECT_EQ(notes.count("measure-odd-edges"), 3u);
  EXPECT_NEAR(measuredVolume(s, cube, Vec3d(5, 6, 7)), 8.0, 1e-12);
}

TEST(MeasuredSurface, JoinsVerticesAtOnePositionAndFollowsTheirMean) {
  TriMesh cube = shelf::cubeWithSplitFaces(2.0f);
  Diagnostics notes;
  const MeasuredSurface s = measured(cube, notes);
  EXPECT_EQ(s.weldedCount(), 8u);
  EXPECT_EQ(s.apexCount(), 0u);
  EXPECT_EQ(notes.count("measure-welded"), 1u);
  EXPECT_NEAR(s.piece_volumes.at(0), 8.0, 1e-12);
  cube.positions[s.vertices_of_welded[0][1]] += Vec3f(0.3f, 0, 0);
  std::vector<Vec3d> points(s.pointCount());
  measurePoints(s, cube.positions, Vec3d::Zero(), points);
  EXPECT_NEAR((points[0] - cube.positions[s.vertices_of_welded[0][0]].cast<double>()).x(),
              0.3 / double(s.vertices_of_welded[0].size()), 1e-7);
}

TEST(MeasuredSurface, KnowsItsPiecesAndTheirSigns) {
  TriMesh two = shelf::sphere(8, 12, 1.0f);
  TriMesh inner = shelf::sphere(6, 9, 0.25f, Vec3f(5, 0, 0));
  const auto base = static_cast<std::uint32_t>(two.vertexCount());
  two.positions.insert(two.positions.end(), inner.positions.begin(), inner.positions.end());
  for (Triangle t : inner.triangles)
    two.triangles.push_back({base + t[1], base + t[0], base + t[2]});
  two.positions.push_back(Vec3f(9, 9, 9));  // belongs to nothing
  Diagnostics notes;
  const MeasuredSurface s = makeMeasuredSurface(two.positions, two.triangles, "mesh", notes);
  ASSERT_EQ(s.piece_count, 3u);
  EXPECT_GT(s.piece_volumes[0], 0);
  EXPECT_LT(s.piece_volumes[1], 0);
  EXPECT_TRUE(s.hasVolume(0) && s.hasVolume(1));
  EXPECT_FALSE(s.hasVolume(2));
  EXPECT_EQ(notes.count("measure-inside-out"), 1u);
}

TEST(MeasuredSurface, ASheetHasNoVolume) {
  TriMesh sheet;
  sheet.positions = {Vec3f(0, 0, 0), Vec3f(1, 0, 0), Vec3f(1, 1, 0), Vec3f(0, 1, 0)};
  sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
  Diagnostics notes;
  const MeasuredSurface s = measured(sheet, notes);
  EXPECT_FALSE(s.hasVolume(0));
  EXPECT_EQ(notes.count("measure-no-volume"), 1u);
}

/// The mesh, with each face once more from behind, on vertices of its own.
TriMesh withBothSides(TriMesh mesh) {
  const auto count = static_cast<std::uint32_t>(mesh.vertexCount());
  const std::vector<Vec3f> positions = mesh.positions;
  mesh.positions.insert(mesh.positions.end(), positions.begin(), positions.end());
  const std::vector<Triangle> triangles = mesh.triangles;
  for (const Triangle& t : triangles)
    mesh.triangles.push_back({t[0] + count, t[2] + count, t[1] + count});
  return mesh;
}

TEST(MeasuredSurface, ASolidWithTwoSidesHasTheVolumeOfItsOuterOne) {
  const TriMesh ball = shelf::sphere(8, 12, 1.0f);
  Diagnostics notes;
  const MeasuredSurface one = measured(ball, notes);
  const MeasuredSurface both = measured(withBothSides(ball), notes);
  ASSERT_EQ(both.piece_count, 1u);
  EXPECT_NEAR(both.piece_volumes[0] / one.piece_volumes[0], 1, 1e-12);
  EXPECT_EQ(both.triangles.size(), one.triangles.size());
  EXPECT_EQ(both.weldedCount(), one.weldedCount());  // both sides move as one
  EXPECT_EQ(notes.count("measure-doubled"), 1u);
  EXPECT_EQ(notes.count("measure-odd-edges"), 0u);
}

TEST(MeasuredSurface, AClothWithTwoSidesHasNoVolume) {
  const TriMesh cloth = withBothSides(shelf::tube(8, 12, 1.0f, 2.0f));
  Diagnostics notes;
  const MeasuredSurface s = measured(cloth, notes);
  ASSERT_EQ(s.piece_count, 1u);
  EXPECT_FALSE(s.hasVolume(0));
  EXPECT_EQ(s.apexCount(), 0u);
}

TEST(MeasuredSurface, SpreadingApexesIsTheTransposeOfCompletingThem) {
  const TriMesh tube = shelf::tube(5, 7, 0.5f, 3.0f);
  Diagnostics notes;
  const MeasuredSurface s = measured(tube, notes);
  std::vector<Vec3d> u(s.pointCount()), g(s.pointCount());
  for (std::size_t i = 0; i < u.size(); ++i) {
    u[i] = Vec3d(std::sin(1.0 * double(i)), std::cos(2.0 * double(i)), std::sin(3.0 * double(i)));
    g[i] = Vec3d(std::cos(4.0 * double(i)), std::sin(5.0 * double(i)), 1);
  }
  completeApexes(s, u);
  double before = 0, after = 0;
  for (std::size_t i = 0; i < u.size(); ++i) before += u[i].dot(g[i]);
  spreadApexes(s, g);
  for (std::size_t i = 0; i < s.weldedCount(); ++i) after += u[i].dot(g[i]);
  EXPECT_NEAR(before, after, 1e-13);
  EXPECT_EQ(g.back(), Vec3d::Zero());
}

TEST(MeasuredSurface, PointsHaveTheSameBitsForEveryThreadCount) {
  const TriMesh m = shelf::sphere(150, 200, 1.0f);
  Diagnostics notes;
  const MeasuredSurface s = measured(m, notes);
  std::vector<Vec3d> one(s.pointCount()), many(s.pointCount());
  {
    const ThreadLimit limit(1);
    measurePoints(s, m.positions, Vec3d(1, 2, 3), one);
  }
  measurePoints(s, m.positions, Vec3d(1, 2, 3), many);
  EXPECT_EQ(one, many);
}

}  // namespace
}  // namespace derm::measured_surface_test
