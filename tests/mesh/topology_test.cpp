#include <algorithm>

#include <gtest/gtest.h>

#include "derm/mesh/adjacency.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/normals.h"
#include "derm/mesh/weld.h"

#include "support/shelf.h"

namespace derm::topology_test {
namespace {

Closedness closednessOf(const TriMesh& m) {
  return checkClosed(mapped(m.triangles, weldMap(m.positions)));
}

TEST(Closedness, TellsClosedFromOpenOnTheWholeShelf) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    EXPECT_EQ(closednessOf(m.mesh).closed(), m.closed);
  }
}

TEST(Closedness, SplitVerticesLookOpenUntilWelded) {
  const TriMesh split = shelf::cubeWithSplitFaces();
  EXPECT_EQ(checkClosed(split.triangles).boundary_edges, 24u);
  EXPECT_TRUE(closednessOf(split).closed());
}

TEST(Closedness, NamesTheEdgesOfOneFlippedTriangle) {  // volume alone may not notice it
  TriMesh m = shelf::sphere(8, 12, 1);
  std::swap(m.triangles[5][0], m.triangles[5][1]);
  const Closedness c = checkClosed(m.triangles);
  EXPECT_FALSE(c.closed());
  EXPECT_EQ(c.repeated_edges, 3u);
  EXPECT_TRUE(c.first_bad_edge.has_value());
}

TEST(Closedness, DegenerateTrianglesAreCountedAndIgnored) {
  TriMesh m = shelf::cube();
  m.triangles.push_back({0, 0, 1});
  EXPECT_TRUE(checkClosed(m.triangles).closed());
  EXPECT_EQ(checkClosed(m.triangles).degenerate_triangles, 1u);
  const Triangle point{0, 0, 0};
  EXPECT_FALSE(checkClosed(std::span(&point, 1)).closed());
}

TEST(Weld, JoinsEqualPositionsToTheSmallestIndex) {
  const std::vector<Vec3f> p{{0, 0, 0}, {1, 0, 0}, {-0.0f, 0, 0}, {1, 0, 1e-6f}, {1, 0, 0}};
  EXPECT_EQ(weldMap(p), (std::vector<std::uint32_t>{0, 1, 0, 3, 1}));
  EXPECT_EQ(weldedCount(weldMap(p)), 3u);
}

TEST(Adjacency, ListsNeighboursSortedAndTrianglesOnce) {
  const TriMesh cube = shelf::cube();
  const IndexLists neighbours = vertexNeighbours(cube.triangles, 8);
  const IndexLists triangles = vertexTriangles(cube.triangles, 8);
  std::size_t edge_ends = 0;
  for (std::size_t v = 0; v < 8; ++v) {
    EXPECT_TRUE(std::is_sorted(neighbours[v].begin(), neighbours[v].end()));
    edge_ends += neighbours[v].size();
    for (const std::uint32_t t : triangles[v])
      EXPECT_NE(std::find(cube.triangles[t].begin(), cube.triangles[t].end(), v),
                cube.triangles[t].end());
  }
  EXPECT_EQ(edge_ends, 2u * 18u);  // 12 sides and 6 diagonals
  EXPECT_EQ(triangles.indices.size(), 36u);
  const std::vector<Triangle> folded{{0, 0, 1}};
  EXPECT_EQ(vertexTriangles(folded, 3).indices.size(), 2u);
  EXPECT_EQ(vertexNeighbours(folded, 3)[0].size(), 1u);
}

TEST(Adjacency, NumbersPiecesInOrderOfTheirFirstVertex) {
  const std::vector<Triangle> t{{4, 5, 6}, {0, 1, 2}, {2, 3, 0}};
  const Pieces p = connectedPieces(t, 8);
  EXPECT_EQ(p.count, 3u);
  EXPECT_EQ(p.of_vertex, (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 2}));
}

TEST(Adjacency, VerticesWithoutTrianglesAreOnePieceAndTheLast) {
  const std::vector<Triangle> t{{5, 6, 8}, {1, 2, 3}};
  const Pieces p = connectedPieces(t, 10);
  EXPECT_EQ(p.count, 3u);
  EXPECT_EQ(p.of_vertex, (std::vector<std::uint32_t>{2, 0, 0, 0, 2, 1, 1, 2, 1, 2}));
  EXPECT_EQ(connectedPieces({}, 4).count, 1u);
  EXPECT_EQ(connectedPieces({}, 0).count, 0u);
}

TEST(Weld, SidesThatLieOnEachOtherStayApartFromEachOtherAndTheSkinTheyTouch) {
  // A skin of two triangles with a seam, and a lash with two sides on its upper edge.
  std::vector<Vec3f> x = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  std::vector<Triangle> t = {{0, 1, 2}, {3, 4, 5}};
  EXPECT_EQ(weldMap(x, t), weldMap(x));
  for (int side = 0; side < 2; ++side) {
    const auto base = static_cast<std::uint32_t>(x.size());
    for (const Vec3f& p : {Vec3f(0, 1, 0), Vec3f(1, 1, 0), Vec3f(0, 1, 1), Vec3f(1, 1, 1)})
      x.push_back(p);
    for (Triangle c : {Triangle{0, 1, 2}, Triangle{1, 3, 2}}) {
      for (std::uint32_t& v : c) v += base;
      if (side == 1) std::swap(c[1], c[2]);
      t.push_back(c);
    }
  }
  const std::vector<std::uint32_t> map = weldMap(x, t);
  EXPECT_EQ(map, (std::vector<std::uint32_t>{0, 1, 2, 1, 4, 2, 6, 7, 8, 9, 10, 11, 12, 13}));
  EXPECT_EQ(connectedPieces(mapped(t, map), x.size()).count, 4u);  // the last: welded away
  const DoubledFaces doubled = findDoubledFaces(mapped(t, weldMap(x)), t);
  EXPECT_EQ(doubled.partner,
            (std::vector<std::uint32_t>{DoubledFaces::kNone, DoubledFaces::kNone, 4, 5, 2, 3}));
  EXPECT_EQ(doubled.side[2], doubled.side[3]);
  EXPECT_EQ(doubled.side[4], doubled.side[5]);
  EXPECT_NE(doubled.side[2], doubled.side[4]);
  // Normals of the two sides do not cancel out.
  const std::vector<Vec3f> normals = areaWeightedNormals(x, t, map);
  for (const Vec3f& n : normals) EXPECT_NEAR(n.norm(), 1, 1e-6);
}

}  // namespace
}  // namespace derm::topology_test
