#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/tri_mesh.h"

namespace derm {

/// The surface Laplacian as one weight per edge: (L f)_i = sum_j w_ij (f_i - f_j), and a share of
/// the area per vertex. L is the usual cotangent stiffness matrix, w = (cot a + cot b) / 2 for the
/// angles across the edge, made safe for meshes as they come:
///  - every triangle's sides are lengthened a little where it is (nearly) without area, so no
///    cotangent is infinite (the intrinsic mollification of Sharp, Crane 2020);
///  - an edge's weight is never below `kMinCotangent`. So L is an M-matrix whatever the angles:
///    solutions of (L + D) x = D p with D >= 0 stay within the range of p, and connected vertices
///    stay connected. The price: at edges with very obtuse angles on both sides L is a little
///    stiffer than the true Laplacian.
/// Non-manifold edges sum over all their triangles. Weights have no unit: scaling changes nothing.
struct CotangentWeights {
  static constexpr double kMinCotangent = 1e-3;
  struct Edge {
    std::uint32_t a = 0;  ///< < b
    std::uint32_t b = 0;
    double weight = 0;  ///< >= kMinCotangent
  };
  std::vector<Edge> edges;    ///< sorted by (a, b), each once
  std::vector<double> areas;  ///< [m^2] per vertex a third of its triangles'; 0 without triangles
};

/// Triangles with two equal corners are left out. For meshes with split vertices pass
/// mapped(triangles, weldMap(positions)). Requires indices < positions.size(). O(n log n).
CotangentWeights cotangentWeights(std::span<const Vec3d> positions,
                                  std::span<const Triangle> triangles);

}  // namespace derm
