#pragma once

#include <span>

#include "derm/mesh/tri_mesh.h"

namespace derm {

/// How often the surface goes around a point: 1 inside a closed surface, 0 outside, -1 inside an
/// inside-out one, and in between for open surfaces (Jacobson, Kavan, Sorkine-Hornung 2013), so
/// |w| > 1/2 is "inside" even where there are holes. Exactly the sum of the triangles' solid angles
/// (van Oosterom, Strackee 1983) over 4 pi. Zero-area triangles count nothing. On the surface
/// itself the value is that of one side or the mean of both. O(triangles), in double; the same bits
/// for any thread count.
double windingNumber(std::span<const Vec3d> positions, std::span<const Triangle> triangles,
                     const Vec3d& point);

}  // namespace derm
