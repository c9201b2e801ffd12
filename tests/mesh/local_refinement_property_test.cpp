// What holds for the refinement of any surface to any levels.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/local_refinement.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/weld.h"

#include "support/compare.h"
#include "support/refined.h"
#include "support/shelf.h"

namespace derm::local_refinement_property_test {
namespace {

using testing_support::refinedMesh;
using testing_support::refinedPositions;

std::vector<std::uint8_t> randomLevels(const RefinableSurface& surface, std::uint64_t seed,
                                       std::uint8_t deepest, double share) {
  Rng rng(seed);
  std::vector<std::uint8_t> levels(surface.triangleCount(), 0);
  for (std::uint8_t& level : levels)
    if (rng.uniform() < share) level = std::uint8_t(1 + rng.below(deepest));
  return surface.balanced(levels);
}

std::map<std::array<std::uint32_t, 2>, int> directedEdges(const std::vector<Triangle>& triangles) {
  std::map<std::array<std::uint32_t, 2>, int> out;
  for (const Triangle& t : triangles)
    for (int i = 0; i < 3; ++i) ++out[{t[i], t[(i + 1) % 3]}];
  return out;
}

TEST(LocalRefinementProperty, ClosedSurfacesStayClosedAtMixedLevels) {
  for (const shelf::ShelfMesh& m : shelf::closedOnes())
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(m.name + " " + std::to_string(seed));
      const RefinableSurface surface(m.mesh.triangles, m.mesh.vertexCount(),
                                     weldMap(m.mesh.positions));
      const auto levels = randomLevels(surface, seed, std::uint8_t(1 + seed % 3), 0.15);
      const LocalRefinement fine = surface.refine(levels);
      const Closedness before = checkClosed(m.mesh.triangles);
      for (const float smoothing : {0.0f, 1.0f}) {
        const TriMesh out = refinedMesh(m.mesh, fine, smoothing);
        const Closedness closed = checkClosed(mapped(out.triangles, weldMap(out.positions)));
        EXPECT_EQ(closed.boundary_edges, 0u);
        EXPECT_EQ(closed.repeated_edges, 0u);
        EXPECT_LE(closed.degenerate_triangles, before.degenerate_triangles);
      }
    }
}

TEST(LocalRefinementProperty, OpenAndBrokenSurfacesKeepExactlyTheirBorders) {
  // Every border edge of the refined surface is a piece of one of the old border: no cracks inside.
  for (const shelf::ShelfMesh& m : shelf::all())
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      SCOPED_TRACE(m.name + " " + std::to_string(seed));
      const std::vector<std::uint32_t> weld = weldMap(m.mesh.positions);
      const RefinableSurface surface(m.mesh.triangles, m.mesh.vertexCount(), weld);
      const auto levels = randomLevels(surface, 40 + seed, 2, 0.3);
      const LocalRefinement fine = surface.refine(levels);
      const TriMesh out = refinedMesh(m.mesh, fine, 0);
      ASSERT_TRUE(validate(out, m.name));
      const auto old_edges = directedEdges(mapped(m.mesh.triangles, weld));
      std::size_t old_border = 0;
      for (const auto& [edge, count] : old_edges)
        old_border += edge[0] != edge[1] && old_edges.find({edge[1], edge[0]}) == old_edges.end();
      const Closedness closed = checkClosed(mapped(out.triangles, weldMap(out.positions)));
      EXPECT_GE(closed.boundary_edges, old_border);
      EXPECT_LE(closed.boundary_edges, 4 * old_border);
    }
}

TEST(LocalRefinementProperty, OldVerticesKeepTheirNumbersAndTheAreaIsCutNotChanged) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    const RefinableSurface surface(m.mesh.triangles, m.mesh.vertexCount(),
                                   weldMap(m.mesh.positions));
    const LocalRefinement fine = surface.refine(randomLevels(surface, 3, 3, 0.3));
    const TriMesh out = refinedMesh(m.mesh, fine, 0);
    for (std::size_t v = 0; v < m.mesh.vertexCount(); ++v)
      ASSERT_EQ(out.positions[v], m.mesh.positions[v]);
    const double before = derm::area(m.mesh.positions, m.mesh.triangles);
    EXPECT_NEAR(derm::area(out.positions, out.triangles), before, 1e-5 * before);
    EXPECT_EQ(fine.sources.size(), fine.triangles.size());
    for (const std::uint32_t source : fine.sources)
      EXPECT_TRUE(std::binary_search(fine.replaced.begin(), fine.replaced.end(), source));
  }
}

TEST(LocalRefinementProperty, LocalPointsAreThoseOfRefiningEverything) {
  for (const shelf::ShelfMesh& m : shelf::closedOnes()) {
    if (m.mesh.triangles.size() > 4000) continue;
    SCOPED_TRACE(m.name);
    const RefinableSurface surface(m.mesh.triangles, m.mesh.vertexCount(),
                                   weldMap(m.mesh.positions));
    const auto whole =
        surface.refine(surface.balanced(std::vector<std::uint8_t>(m.mesh.triangles.size(), 3)));
    const std::vector<Vec3f> everywhere = refinedPositions(m.mesh.positions, whole);
    std::map<std::array<float, 3>, int> welded;
    for (const Vec3f& p : everywhere) ++welded[{p.x(), p.y(), p.z()}];
    const auto local = surface.refine(randomLevels(surface, 8, 3, 0.1));
    for (const Vec3f& p : refinedPositions(m.mesh.positions, local))
      ASSERT_TRUE(welded.count({p.x(), p.y(), p.z()})) << "bit for bit";
  }
}

TEST(LocalRefinementProperty, VertexOrderDoesNotMatter) {
  const TriMesh ball = shelf::sphere(7, 11, 1);
  std::vector<std::uint32_t> to(ball.vertexCount());
  for (std::uint32_t v = 0; v < to.size(); ++v) to[v] = v;
  Rng rng(4);
  for (std::size_t i = to.size(); i-- > 1;) std::swap(to[i], to[rng.below(i + 1)]);
  TriMesh shuffled = ball;
  for (std::size_t v = 0; v < to.size(); ++v) shuffled.positions[to[v]] = ball.positions[v];
  shuffled.triangles = mapped(ball.triangles, to);
  const auto volumeOf = [](const TriMesh& mesh) {
    const RefinableSurface surface(mesh.triangles, mesh.vertexCount());
    std::vector<std::uint8_t> levels(mesh.triangles.size(), 0);
    for (std::size_t t = 0; t < 40; ++t) levels[t] = 2;
    const TriMesh out = refinedMesh(mesh, surface.refine(surface.balanced(levels)));
    return volume(out.positions, out.triangles);
  };
  EXPECT_NEAR(volumeOf(ball), volumeOf(shuffled), 1e-6);
}

TEST(LocalRefinementProperty, NoLevelsNoChange) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    const RefinableSurface surface(m.mesh.triangles, m.mesh.vertexCount());
    const LocalRefinement fine =
        surface.refine(std::vector<std::uint8_t>(m.mesh.triangles.size(), 0));
    EXPECT_TRUE(fine.replaced.empty() && fine.triangles.empty() && fine.vertices.empty()) << m.name;
  }
}

}  // namespace
}  // namespace derm::local_refinement_property_test
