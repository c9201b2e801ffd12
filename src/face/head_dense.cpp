#include <algorithm>
#include <cmath>
#include <limits>

#include "derm/base/parallel.h"
#include "derm/face/head_registration.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/triangle_tree.h"

#include "framed_head.h"
#include "head_slits.h"
#include "smooth_step.h"

namespace derm {
namespace {

using detail::FramedHead;
using detail::Samples;
using detail::WeldedHead;

// Face units, in the source's frame.
constexpr double kSureRadius = 1.7;      // full confidence up to here
constexpr double kFarthestRadius = 2.1;  // nothing beyond
constexpr double kFarthestSurface = 0.3;
constexpr double kSurfaceScale = 0.12;
constexpr double kSideReach = 0.3;
constexpr double kMinCosine = 0.3;
constexpr double kMinOpenness = 0.2;
constexpr double kInsideConfidence = 0.5;
constexpr double kStrayConfidence = 0.25;

/// A head with what matching of sheets asks for.
struct SidedHead {
  WeldedHead welded;
  FramedHead head;
  Samples samples;
  std::vector<signed char> sides;  ///< per welded vertex
};

SidedHead sidedHead(const TriMesh& mesh, const FaceFrame& frame) {
  SidedHead out;
  out.welded = detail::weldedHead(mesh);
  detail::wholeSamples(out.welded, frame);
  out.head = detail::framed(out.welded, frame);
  out.samples = detail::faceSamples(out.head, out.welded);
  out.sides = detail::rimSides(
      out.head.positions, out.welded.triangles,
      detail::findSlits(out.head.positions, out.head.normals, out.welded.triangles, out.samples),
      kSideReach);
  return out;
}

}  // namespace

Result<HeadCorrespondence> denseCorrespondence(const TriMesh& source_at_rest,
                                               const TriMesh& target_mesh,
                                               const HeadRegistration& registration,
                                               const Progress& progress) {
  DERM_CHECK(validate(source_at_rest, "source"));
  DERM_CHECK(validate(target_mesh, "target"));
  TriMesh opened;
  if (!registration.source_positions.empty()) {
    DERM_REQUIRE(registration.source_positions.size() == source_at_rest.vertexCount());
    opened.positions = registration.source_positions;
    opened.triangles = source_at_rest.triangles;
  }
  const TriMesh& source_mesh = opened.positions.empty() ? source_at_rest : opened;
  const HeadMap& map = registration.map;
  if (!keepGoing(progress, 0, "sides")) return Error{ErrorCode::Cancelled, "cancelled", {}};
  const SidedHead source = sidedHead(source_mesh, map.sourceFrame());
  const SidedHead target = sidedHead(target_mesh, map.targetFrame());
  if (!keepGoing(progress, 0.4, "matching")) return Error{ErrorCode::Cancelled, "cancelled", {}};

  // Normal and side of the source's triangles.
  const std::size_t triangle_count = source_mesh.triangles.size();
  std::vector<Vec3d> facing(triangle_count, Vec3d::Zero());
  std::vector<signed char> side(triangle_count, 0);
  for (std::size_t t = 0; t < triangle_count; ++t) {
    int sum = 0;
    for (const std::uint32_t v : source.welded.triangles[t]) {
      facing[t] += source.head.normals[v];
      sum += source.sides[v];
    }
    const double length = facing[t].norm();
    if (length > 0) facing[t] /= length;
    side[t] = static_cast<signed char>(sum > 0 ? 1 : sum < 0 ? -1 : 0);
  }
  const TriangleTree tree(source.head.positions, source_mesh.triangles);
  std::vector<Vec3d> sample_positions = target.samples.positions;
  const detail::Tree3 sample_tree = detail::treeOf(sample_positions);

  const std::size_t count = target_mesh.vertexCount();
  struct Counterpart {
    Vec3d position = Vec3d::Zero();  ///< in the source's face frame, by the inverse map
    Vec3d normal = Vec3d::Zero();
    Vec3d found = Vec3d::Zero();
    double confidence = 0;
    bool has = false;
  };
  std::vector<Counterpart> counterparts(count);
  HeadCorrespondence out;
  out.source_points.assign(count, {HeadCorrespondence::kNoTriangle, Vec3f::UnitX()});
  out.confidence.assign(count, 0.0f);
  const auto seek = [&](std::size_t v, const Vec3d* around, double reach) {
    Counterpart& counterpart = counterparts[v];
    const signed char wanted = target.sides[target.welded.weld[v]];
    const auto accept = [&](std::uint32_t t) {
      if (facing[t].dot(counterpart.normal) <= kMinCosine || wanted * side[t] < 0) return false;
      if (around == nullptr) return true;
      const Triangle& corners = source_mesh.triangles[t];
      const Vec3d centre = (source.head.positions[corners[0]] + source.head.positions[corners[1]] +
                            source.head.positions[corners[2]]) /
                           3;
      return (centre - *around).norm() < reach;
    };
    const auto found = tree.closestPoint(counterpart.position, kFarthestSurface, accept);
    if (!found) return false;
    counterpart.found = found->point;
    counterpart.has = true;
    out.source_points[v] = {found->triangle, found->barycentric.cast<float>()};
    const double d = found->distance / kSurfaceScale;
    const double radius = counterpart.found.norm();
    double sure = std::exp(-0.5 * d * d) *
                  (1 - detail::smoothStep(kSureRadius, kFarthestRadius, radius)) *
                  std::clamp(facing[found->triangle].dot(counterpart.normal), 0.0, 1.0);
    const auto near = sample_tree.nearest(detail::treePoint(target.head.positions[v]));
    if (target.samples.openness[near.index] <= kMinOpenness) sure *= kInsideConfidence;
    counterpart.confidence = sure;
    return true;
  };
  parallelFor(count, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      if (target.head.positions[v].norm() > kFarthestRadius + 0.5) continue;
      const Vec3d at = map.inverse(target_mesh.positions[v].cast<double>());
      Counterpart& counterpart = counterparts[v];
      counterpart.position = map.sourceFrame().toFace(at);
      if (!(counterpart.position.norm() < kFarthestRadius)) continue;
      // Normals go back by the transpose of what tangents go forward by.
      counterpart.normal =
          map.sourceFrame().axes.transpose() *
          (map.slope(at).transpose() * (map.targetFrame().axes * target.head.normals[v]))
              .normalized();
      seek(v, nullptr, 0);
    }
  });
  if (!keepGoing(progress, 0.8, "consistency")) return Error{ErrorCode::Cancelled, "cancelled", {}};

  // A vertex whose neighbours all went elsewhere took the wrong sheet: look near theirs.
  const IndexLists neighbours = vertexNeighbours(target.welded.triangles, count);
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<std::pair<std::uint32_t, Vec3d>> strays;
    for (std::uint32_t v = 0; v < count; ++v) {
      if (target.welded.weld[v] != v || counterparts[v].position.isZero()) continue;
      std::vector<double> x, y, z;
      double edge = 0;
      for (const std::uint32_t w : neighbours[v]) {
        if (!counterparts[w].has) continue;
        x.push_back(counterparts[w].found.x());
        y.push_back(counterparts[w].found.y());
        z.push_back(counterparts[w].found.z());
        edge = std::max(edge, (counterparts[w].position - counterparts[v].position).norm());
      }
      if (x.size() < 3) continue;
      const auto median = [](std::vector<double>& list) {
        std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2),
                         list.end());
        return list[list.size() / 2];
      };
      const Vec3d middle(median(x), median(y), median(z));
      if (!counterparts[v].has || (counterparts[v].found - middle).norm() > 0.06 + 2 * edge)
        strays.push_back({v, middle});
    }
    for (const auto& [v, middle] : strays) {
      const bool had = counterparts[v].has;
      if (seek(v, &middle, 0.2))
        counterparts[v].confidence *= 0.7;
      else if (had)
        counterparts[v].confidence *= kStrayConfidence;
    }
  }
  const double trust = registration.verdict == RegistrationVerdict::Good ? 1.0 : 0.5;
  for (std::size_t v = 0; v < count; ++v) {
    const std::uint32_t first = target.welded.weld[v];
    if (first != v) {
      out.source_points[v] = out.source_points[first];
      counterparts[v].confidence = counterparts[first].confidence;
      counterparts[v].has = counterparts[first].has;
    }
    if (counterparts[v].has)
      out.confidence[v] = static_cast<float>(trust * counterparts[v].confidence);
  }
  if (!keepGoing(progress, 1, "done")) return Error{ErrorCode::Cancelled, "cancelled", {}};
  return out;
}

}  // namespace derm
