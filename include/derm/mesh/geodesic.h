#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/tri_mesh.h"

namespace derm {

/// A vertex where distances start, and with what value.
struct GeodesicSeed {
  std::uint32_t vertex = 0;
  double distance_m = 0;  ///< [m] finite
};

/// Distances along a surface. Prepared once, asked often; immutable, so share it between threads.
///
/// Method: fast marching on triangles (Kimmel, Sethian 1998): like Dijkstra, but a vertex takes the
/// least of what comes along an edge and what a wave front brings across a triangle; triangles with
/// an obtuse angle are opened by unfolding the neighbour.
///
///     c        Edge ab with its two triangles laid flat. c, where the angle is obtuse, may also be
///    /:\       reached by fronts on ad and db, and along the straight line cd.
///   a-:-b
///    \:/
///     d
///
/// Where we differ: a front whose ends come from one seed is round about it (Novotni, Klein 2002),
/// so the plane around a seed is exact; other fronts are straight, so extended seeds are, too.
/// Where the ends of an edge head towards each other two fronts meet and neither passes: else
/// distances beyond would come out too short.
///
/// Accuracy (largest error over largest distance, tested): tubes and other surfaces that unroll,
/// 1e-6; a sphere of 3,000 triangles 1.5 % (worst around the far pole, where all fronts meet); a
/// plane of badly shaped triangles 2 %. It falls with the edge length. The exact polyhedral
/// distance is not computed.
/// Messy meshes: holes, borders, non-manifold edges (not unfolded) and zero-area triangles are
/// fine; pieces without a seed are at infinity.
/// Cost: O(n) to prepare, about O(n log n) per question; some 300 bytes per triangle.
class GeodesicSurface {
 public:
  /// Requires indices < positions.size() and finite positions. `weld` (see weld.h), where not
  /// empty, makes vertices at one position the same.
  GeodesicSurface(std::span<const Vec3d> positions, std::span<const Triangle> triangles,
                  std::span<const std::uint32_t> weld = {});

  std::size_t vertexCount() const { return vertex_count_; }

  /// [m] per vertex the least over the seeds of their value plus the way from them; infinity where
  /// no seed leads. A seed that another one undercuts gets the lesser value.
  std::vector<double> distances(std::span<const GeodesicSeed> seeds) const;

 private:
  /// A step along an edge, or along the straight line over one.
  struct Step {
    std::uint32_t target = 0;
    double length = 0;  ///< [m]
  };
  /// A triangle, or an unfolded one, seen from a corner that has its value: with `other`, a front
  /// may go on to `target`.
  struct Gate {
    std::uint32_t other = 0;
    std::uint32_t target = 0;
    double base = 0;          ///< [m] from here to `other`
    double to_target = 0;     ///< [m] from here
    double other_target = 0;  ///< [m]
  };
  struct Wave;
  struct Builder;

  std::size_t vertex_count_ = 0;
  std::vector<Vec3d> positions_;
  std::vector<std::uint32_t> weld_;        ///< empty, or per vertex the one that stands for it
  std::vector<std::uint32_t> first_step_;  ///< steps of v: [first_step_[v], first_step_[v + 1])
  std::vector<Step> steps_;
  std::vector<std::uint32_t> first_gate_;  ///< the same for gates
  std::vector<Gate> gates_;
};

}  // namespace derm
