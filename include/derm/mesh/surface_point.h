#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "derm/base/result.h"
#include "derm/math/vec.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

class TriangleTree;

/// A point that stays on a surface however it moves: a triangle and barycentric coordinates. Plain
/// data; says nothing without the triangles it belongs to.
struct SurfacePoint {
  std::uint32_t triangle = 0;
  Vec3f barycentric = Vec3f::UnitX();  ///< [0,1], sum 1: shares of the triangle's corners

  bool operator==(const SurfacePoint&) const = default;
};

/// A surface point with a name: a control point of a face, a marker, a landmark.
struct LabelledPoint {
  std::string label;
  SurfacePoint point;

  bool operator==(const LabelledPoint&) const = default;
};

/// The triangle exists; shares are finite, none below -1e-4, and add up to 1 within 1e-4 (rounded
/// numbers of other programs). O(1).
Result<void> validate(const SurfacePoint& point, std::size_t triangle_count, std::string_view name);

/// Any attribute of the vertices at a surface point: positions, uvs, colours. Requires a point that
/// is valid for these triangles, and a value per vertex.
template <class T>
T valueAt(const SurfacePoint& point, std::span<const Triangle> triangles,
          std::span<const T> values) {
  const Triangle& t = triangles[point.triangle];
  const Vec3f& share = point.barycentric;
  return share[0] * values[t[0]] + share[1] * values[t[1]] + share[2] * values[t[2]];
}

/// [m]
Vec3f positionAt(const SurfacePoint& point, std::span<const Triangle> triangles,
                 std::span<const Vec3f> positions);

/// Unit length: the vertex normals' mean, or the triangle's own normal where there are no normals
/// or they cancel out; +Y where the triangle has no area either.
Vec3f normalAt(const SurfacePoint& point, std::span<const Triangle> triangles,
               std::span<const Vec3f> positions, std::span<const Vec3f> normals);

/// The point of a surface nearest to `p`, if there is one within `max_distance_m`. For many
/// questions make the tree once.
std::optional<SurfacePoint> nearestSurfacePoint(
    const TriangleTree& tree, const Vec3d& p,
    double max_distance_m = std::numeric_limits<double>::infinity());
std::optional<SurfacePoint> nearestSurfacePoint(
    const TriMesh& mesh, const Vec3d& p,
    double max_distance_m = std::numeric_limits<double>::infinity());

}  // namespace derm
