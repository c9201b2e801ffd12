#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/math/vec.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

struct CoarseningDesc {
  std::size_t max_triangles = 400000;  ///< > 0; locked vertices may leave more
  /// What leaving the surface costs over the length of edges: at 25, a deviation of a 25th of an
  /// edge counts as much as the edge. [0,1000]
  double deviation_weight = 25;
};

/// A mesh with fewer of its own vertices, and how what is known at these goes back to the others.
///
/// Method: half-edge collapses in passes of independent sets, cheapest first (longest new edge and
/// distance to the new triangles). A collapse keeps the surface a manifold with its borders and
/// turns no triangle by 60 degrees or more; vertices on edges of three and more triangles stay. So
/// lips that touch are never joined: only what an edge joins is looked at. A removed vertex is a
/// mean of the neighbours it had when it was removed, by mean value coordinates (Floater 2003) in
/// the ring laid flat; values go back in the opposite order. What is constant stays exactly
/// constant, and what is linear along the skin nearly so.
/// Cost: O(n log n), about 4 us per removed vertex; 100 bytes per vertex.
struct Coarsening {
  struct Share {
    std::uint32_t vertex = 0;
    float weight = 0;  ///< (0,1], sum 1 per removed vertex
  };

  std::vector<std::uint32_t> kept;             ///< vertices of the mesh, sorted
  std::vector<Triangle> triangles;             ///< of entries of `kept`, in the order of the mesh's
  std::vector<std::uint32_t> triangle_source;  ///< per triangle the mesh's that it was

  std::vector<std::uint32_t> removed;  ///< in the order in which values go back
  std::vector<std::uint32_t> offsets;  ///< removed.size() + 1, into `shares`
  std::vector<Share> shares;           ///< of vertices that are kept or earlier in `removed`

  std::span<const Share> sharesOf(std::size_t i) const {
    return std::span(shares).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};

/// Vertices at one position should be one (weld.h); those without triangles are kept. Same bytes
/// for any thread count. Errors: desc out of range, cancelled. Requires a valid mesh.
Result<Coarsening> coarsened(std::span<const Vec3f> positions, std::span<const Triangle> triangles,
                             const CoarseningDesc& desc, const Progress& progress = {});

}  // namespace derm
