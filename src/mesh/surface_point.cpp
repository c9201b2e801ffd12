#include "derm/mesh/surface_point.h"

#include <cmath>

#include "derm/mesh/triangle_tree.h"

namespace derm {
namespace {

constexpr float kShareTolerance = 1e-4f;

}  // namespace

Result<void> validate(const SurfacePoint& point, std::size_t triangle_count,
                      std::string_view name) {
  const auto bad = [&](std::string message) {
    return Error{ErrorCode::BadData, std::move(message), {.file = std::string(name)}};
  };
  if (point.triangle >= triangle_count)
    return bad("surface point on triangle " + std::to_string(point.triangle) + " of " +
               std::to_string(triangle_count));
  if (!point.barycentric.allFinite() || point.barycentric.minCoeff() < -kShareTolerance ||
      std::abs(point.barycentric.sum() - 1.0f) > kShareTolerance)
    return bad("barycentric coordinates must be 0 to 1 and add up to 1");
  return {};
}

Vec3f positionAt(const SurfacePoint& point, std::span<const Triangle> triangles,
                 std::span<const Vec3f> positions) {
  return valueAt(point, triangles, positions);
}

Vec3f normalAt(const SurfacePoint& point, std::span<const Triangle> triangles,
               std::span<const Vec3f> positions, std::span<const Vec3f> normals) {
  if (!normals.empty()) {
    const Vec3f mean = valueAt(point, triangles, normals);
    const float length = mean.norm();
    if (length > 1e-4f) return mean / length;
  }
  const Triangle& t = triangles[point.triangle];
  const Vec3d a = positions[t[0]].cast<double>();
  const Vec3d across =
      (positions[t[1]].cast<double>() - a).cross(positions[t[2]].cast<double>() - a);
  const double length = across.norm();
  return length > 0 ? Vec3f((across / length).cast<float>()) : Vec3f(Vec3f::UnitY());
}

std::optional<SurfacePoint> nearestSurfacePoint(const TriangleTree& tree, const Vec3d& p,
                                                double max_distance_m) {
  const std::optional<TriangleTree::Nearest> found = tree.closestPoint(p, max_distance_m);
  if (!found) return std::nullopt;
  return SurfacePoint{found->triangle, found->barycentric.cast<float>()};
}

std::optional<SurfacePoint> nearestSurfacePoint(const TriMesh& mesh, const Vec3d& p,
                                                double max_distance_m) {
  return nearestSurfacePoint(TriangleTree(mesh.positions, mesh.triangles), p, max_distance_m);
}

}  // namespace derm
