#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/adjacency.h"
#include "derm/mesh/tri_mesh.h"

/// Private to room deform: how steeply the offsets of flesh may change along the skin.
namespace derm::detail {

/// The surface around an element, as far as it takes part in its motion: its points (vertices at
/// one position count as one), then those of the border beside it, which stand still. Immutable.
struct FleshPatch {
  std::size_t moving = 0;             ///< points of the element; the others are its border
  std::vector<std::uint32_t> vertex;  ///< per point a vertex that lies there
  IndexLists entries;                 ///< per moving point those of the element's vertices there
  IndexLists neighbours;              ///< per moving point the points it shares an edge with
  std::vector<Triangle> triangles;    ///< of points, with a moving one each
  float steepest = 0;                 ///< [1/m] of alpha along an edge at rest
};

/// `vertices` ascending, one alpha each. O(mesh).
FleshPatch makeFleshPatch(const TriMesh& rest, std::span<const std::uint32_t> vertices,
                          std::span<const float> alpha);

/// Room for slopeLimited(), made once.
struct FleshSlopeScratch {
  FleshSlopeScratch() = default;
  explicit FleshSlopeScratch(const FleshPatch& patch)
      : before(patch.vertex.size()),
        offset(patch.vertex.size()),
        length(patch.vertex.size()),
        rise(patch.neighbours.indices.size()),
        pull(patch.moving),
        pulls(patch.moving) {}

  std::vector<Vec3f> before;  ///< per point where it was before the flesh moved
  std::vector<Vec3f> offset;  ///< from there
  std::vector<float> length;  ///< of the offset
  std::vector<float> rise;    ///< per neighbour: by how much the length may rise towards it
  std::vector<Vec3f> pull;    ///< of the turn guard: sum of mean offsets of bad triangles
  std::vector<std::uint32_t> pulls;
};

/// Where the element's vertices were, by entry, and where all vertices are now.
struct FleshOffsets {
  std::span<const std::uint32_t> vertices;  ///< of the mesh, by entry
  std::span<const Vec3f> before;
  std::span<Vec3f> positions;
  /// Bone and depth: how far the guard may pull a vertex.
  Vec3f bone_from = Vec3f::Zero();
  Vec3f bone_along = Vec3f::Zero();
  float bone_radius = 0;
  float reach = 1;
};

/// Holds the offsets' lengths to `max_slope` along every edge of the surface before the flesh
/// moved: s_i <= s_j + max_slope |e_ij|, the largest lengths that fulfil it. |grad d| < 1 is what
/// keeps triangles from turning over: for offsets along one direction u the area vector N goes to
/// N' with <N', N> = |N|^2 (1 + u . grad). Then a guard moves what turns all the same (long thin
/// triangles) towards the mean of its triangle. `directions_differ`: offsets are not parallel, so
/// that lengths alone do not tell.
/// Lengths only sink towards a bound that does not depend on the order of the sums (float rounding
/// is monotone), so the result has the same bits in any order of vertices and threads.
/// Returns whether anything was moved.
bool limitSlope(const FleshPatch& patch, float max_slope, bool directions_differ,
                const FleshOffsets& offsets, FleshSlopeScratch& scratch) noexcept;

}  // namespace derm::detail
