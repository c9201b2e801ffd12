#include "derm/face/sculpt_map.h"

#include <atomic>
#include <optional>

#include "derm/mesh/normals.h"
#include "derm/mesh/triangle_tree.h"

#include "face/maps/texel_frames.h"

namespace derm {
namespace {

using detail::maps::TexelFrame;
using detail::maps::TexelFrames;

/// A sculpt that can be asked what its normal is where a head's normal meets it.
class Sculpt {
 public:
  explicit Sculpt(const TriMesh& mesh)
      : mesh_(mesh),
        normals_(mesh.normals.empty() ? areaWeightedNormals(mesh.positions, mesh.triangles)
                                      : mesh.normals),
        tree_(std::span<const Vec3f>(mesh.positions), mesh.triangles) {}

  std::optional<Vec3d> normalSeenFrom(const Vec3d& p, const Vec3d& n, double reach) const {
    std::optional<SurfacePoint> found;
    double nearest = 2;
    for (const double way : {reach, -reach})
      if (const auto hit = tree_.firstHit(p, p + way * n); hit && hit->t < nearest) {
        nearest = hit->t;
        found = SurfacePoint{hit->triangle, hit->barycentric.cast<float>()};
      }
    if (!found) found = nearestSurfacePoint(tree_, p, reach);
    if (!found) return std::nullopt;
    const Vec3d out = normalAt(*found, mesh_.triangles, mesh_.positions, normals_).cast<double>();
    // The inside of a thin sheet says nothing about the skin.
    if (out.dot(n) <= 0.05) return std::nullopt;
    return out;
  }

 private:
  const TriMesh& mesh_;
  std::vector<Vec3f> normals_;
  TriangleTree tree_;
};

double sizeOf(const TriMesh& mesh) {
  Vec3f low = mesh.positions[0], high = low;
  for (const Vec3f& p : mesh.positions) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  return static_cast<double>((high - low).norm());
}

}  // namespace

Result<FloatImage> sculptNormals(const TriMesh& head, std::span<const LabelledPoint> points,
                                 const TriMesh& sculpt, const SculptMapDesc& desc,
                                 Diagnostics& notes) {
  DERM_CHECK(validate(head, "head"));
  DERM_CHECK(validate(sculpt, "sculpt"));
  if (head.triangles.empty())
    return Error{ErrorCode::BadData, "has no triangles", {.element = "head"}};
  if (sculpt.triangles.empty())
    return Error{ErrorCode::BadData, "has no triangles", {.element = "sculpt"}};
  if (!(desc.reach_m >= 0 && desc.reach_m <= 1e6))
    return Error{ErrorCode::BadArgument, "must lie in [0,1e6]", {.element = "reach_m"}};
  DERM_TRY(const auto texels,
           TexelFrames::make(head, points, desc.width, desc.height, desc.padding, notes));
  const double reach = desc.reach_m > 0 ? desc.reach_m : 0.01 * sizeOf(head);
  const Sculpt fine(sculpt);
  std::atomic<std::size_t> asked{0}, missed{0};
  FloatImage out = texels.map([&](std::size_t texel) -> Vec3d {
    const TexelFrame at = texels.at(texel);
    const auto n = fine.normalSeenFrom(at.position, at.normal, reach);
    asked.fetch_add(1, std::memory_order_relaxed);
    if (!n) {
      missed.fetch_add(1, std::memory_order_relaxed);
      return Vec3d::UnitZ();
    }
    return Vec3d(n->dot(at.x), n->dot(at.y), n->dot(at.normal)).normalized();
  });
  if (missed == asked)
    return Error{ErrorCode::BadData,
                 "lies nowhere near the head: nothing of it within " + std::to_string(reach) +
                     " m of the skin (another unit, or another place?)",
                 {.element = "sculpt"}};
  if (10 * missed > asked)
    notes.warn("sculpt-missed", "sculpt",
               std::to_string(100 * missed / asked) +
                   " % of the skin has nothing of the sculpt near it and stays flat");
  return out;
}

}  // namespace derm
