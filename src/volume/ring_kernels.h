#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "derm/math/vec.h"
#include "derm/mesh/tri_mesh.h"

/// Private to room volume: inner loops of the volume methods (volume_methods.h), for the CPU's
/// instruction set.
namespace derm::detail {

/// Points and the closed rings around them, one after the other: the first point of each ring comes
/// again as its last.
struct RingRun {
  std::span<const std::uint32_t> points;
  const std::uint8_t* ring_sizes = nullptr;
  const std::uint32_t* rings = nullptr;
};

/// What becomes of v = dV/dx of a run's points: null = not wanted.
struct RingOutput {
  Vec3d* gradients = nullptr;     ///< v
  Vec3d* field = nullptr;         ///< gamma v
  const double* gamma = nullptr;  ///< per point of the surface
};

struct RingSums {
  double volume = 0;              ///< of the points' shares in the tetrahedra around them
  double squares[3] = {0, 0, 0};  ///< of gamma v^2, by axis; with a field only
};
/// `x` per point of the surface; tetrahedra stand on `anchor`.
RingSums measureRings(const RingRun& run, const Vec3d* x, const Vec3d& anchor,
                      const RingOutput& out);

/// Corners of one point: the edges across, and per corner a weight for each of the point's entries.
struct CornerList {
  std::span<const std::array<std::uint32_t, 2>> edges;
  const float* weights = nullptr;
};
/// out_k = sum over corners of weight_k (left - anchor) x (right - anchor) / 18.
void sumCorners(const CornerList& corners, const Vec3d* x, const Vec3d& anchor,
                std::span<Vec3d> out);

/// How the volume of tetrahedra grows with s as their corners move by s times a field:
/// c1 s + c2 s^2 + c3 s^3.
struct LineCubic {
  double c1 = 0, c2 = 0, c3 = 0;
};
/// `field` is by entry; `entries` per point of the surface.
LineCubic sumCubic(std::span<const Triangle> triangles, const Vec3d* x, const Vec3d& anchor,
                   const Vec3d* field, const std::uint32_t* entries);

/// Volumes of tetrahedra, one after the other.
void tetrahedronVolumes(std::span<const Triangle> triangles, const Vec3d* x, const Vec3d& anchor,
                        std::span<double> out);

}  // namespace derm::detail
