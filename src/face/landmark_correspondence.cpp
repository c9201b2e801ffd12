#include "derm/face/landmark_correspondence.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "derm/base/parallel.h"
#include "derm/face/face_features.h"
#include "derm/math/rbf.h"
#include "derm/mesh/normals.h"
#include "derm/mesh/triangle_tree.h"
#include "derm/mesh/weld.h"

namespace derm {
namespace {

/// Cosine of the angle between normals up to which two places may be the same.
constexpr double kSameWay = 0.3;

const Vec3d* find(const std::vector<std::pair<std::string, Vec3d>>& points,
                  std::string_view label) {
  for (const auto& [name, p] : points)
    if (name == label) return &p;
  return nullptr;
}

/// Feature points under their numbers.
std::vector<std::pair<std::string, Vec3d>> placed(std::span<const LabelledPoint> points,
                                                  const TriMesh& mesh) {
  std::vector<std::pair<std::string, Vec3d>> out;
  for (const LabelledPoint& p : points) {
    const FaceFeature* feature = findFaceFeature(p.label);
    out.push_back({feature != nullptr ? std::string(feature->number) : p.label,
                   positionAt(p.point, mesh.triangles, mesh.positions).cast<double>()});
  }
  return out;
}

/// How far from a face's points its vertices count.
double reach(const std::vector<std::pair<std::string, Vec3d>>& points) {
  const Vec3d *a = find(points, "3.7"), *b = find(points, "3.11"), *c = find(points, "3.12"),
              *d = find(points, "3.8");
  if (a && b && c && d) return ((*a + *b) / 2 - (*c + *d) / 2).norm();
  Vec3d mean = Vec3d::Zero();
  for (const auto& [name, p] : points) mean += p / static_cast<double>(points.size());
  double sum = 0;
  for (const auto& [name, p] : points) sum += (p - mean).squaredNorm();
  return std::sqrt(sum / static_cast<double>(points.size()));
}

}  // namespace

Result<HeadCorrespondence> landmarkCorrespondence(const TriMesh& source,
                                                  std::span<const LabelledPoint> source_points,
                                                  const TriMesh& target,
                                                  std::span<const LabelledPoint> target_points,
                                                  Diagnostics& notes) {
  const auto on_source = placed(source_points, source);
  const auto on_target = placed(target_points, target);
  std::vector<RbfPoint<3>> from, to;
  for (const auto& [label, p] : on_target)
    if (const Vec3d* q = find(on_source, label)) {
      from.push_back(p);
      to.push_back(*q);
    }
  if (from.size() < 4)
    return Error{ErrorCode::BadArgument,
                 "only " + std::to_string(from.size()) +
                     " points of both heads have the same labels; four are needed",
                 {.element = "points"}};
  DERM_TRY(const RbfMap33 map, RbfMap33::bind(from, to, {}, notes));
  const TriangleTree tree(source.positions, source.triangles);
  const std::vector<Vec3f> source_normals = areaWeightedNormals(
      source.positions, source.triangles, weldMap(source.positions, source.triangles));
  const std::vector<Vec3f> normals = areaWeightedNormals(
      target.positions, target.triangles, weldMap(target.positions, target.triangles));
  const double radius = reach(on_target), far = 0.3 * reach(on_source);
  HeadCorrespondence out;
  out.source_points.assign(target.vertexCount(), {HeadCorrespondence::kNoTriangle, Vec3f::UnitX()});
  out.confidence.assign(target.vertexCount(), 0.0f);
  parallelFor(target.vertexCount(), 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      const Vec3d p = target.positions[v].cast<double>();
      double nearest = INFINITY;
      for (const RbfPoint<3>& q : from) nearest = std::min(nearest, (Vec3d(q) - p).norm());
      if (nearest > radius) continue;
      const Vec3d at = map.evaluate(p);
      const Vec3d normal = map.evaluate(Vec3d(p + 1e-3 * radius * normals[v].cast<double>())) - at;
      const auto found = nearestSurfacePoint(tree, at, far);
      if (!found) continue;
      const Vec3d there =
          normalAt(*found, source.triangles, source.positions, source_normals).cast<double>();
      if (!(there.dot(normal) > kSameWay * normal.norm())) continue;
      out.source_points[v] = *found;
      out.confidence[v] = static_cast<float>(1 - 0.5 * nearest / radius);
    }
  });
  return out;
}

}  // namespace derm
