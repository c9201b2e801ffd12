#include "derm/face/control_point_search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "derm/face/face_points.h"
#include "derm/face/face_slits.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/triangle_tree.h"
#include "derm/mesh/weld.h"

#include "face/slit_margins.h"

namespace derm {
namespace {

/// The triangles of the piece that most of the points lie on.
class FaceSkin {
 public:
  FaceSkin(const TriMesh& mesh, std::span<const LabelledPoint> points)
      : FaceSkin(mesh, trianglesOf(mesh, points)) {}

  /// Among the triangles that look `outward`: at a margin those of the socket are as near.
  SurfacePoint nearest(const Vec3d& p, const Vec3d& outward) const {
    const std::optional<TriangleTree::Nearest> outside =
        tree_.closestPoint(p, std::numeric_limits<double>::infinity(), [&](std::uint32_t i) {
          const Triangle& t = mesh_.triangles[numbers_[i]];
          const Vec3f across = mesh_.positions[t[2]] - mesh_.positions[t[0]];
          const Vec3f area = (mesh_.positions[t[1]] - mesh_.positions[t[0]]).cross(across);
          return area.cast<double>().dot(outward) > 0;
        });
    const TriangleTree::Nearest at = outside ? *outside : *tree_.closestPoint(p);
    return {numbers_[at.triangle], at.barycentric.cast<float>()};
  }

 private:
  FaceSkin(const TriMesh& mesh, std::vector<std::uint32_t> numbers)
      : mesh_(mesh),
        numbers_(std::move(numbers)),
        tree_(mesh.positions, cornersOf(mesh, numbers_)) {}

  static std::vector<std::uint32_t> trianglesOf(const TriMesh& mesh,
                                                std::span<const LabelledPoint> points) {
    const std::vector<Triangle> welded = mapped(mesh.triangles, weldMap(mesh.positions));
    const Pieces pieces = connectedPieces(welded, mesh.vertexCount());
    std::vector<std::size_t> points_of(pieces.count, 0);
    for (const LabelledPoint& p : points)
      ++points_of[pieces.of_vertex[welded[p.point.triangle][0]]];
    const auto skin = static_cast<std::uint32_t>(
        std::max_element(points_of.begin(), points_of.end()) - points_of.begin());
    std::vector<std::uint32_t> out;
    for (std::uint32_t t = 0; t < welded.size(); ++t)
      if (pieces.of_vertex[welded[t][0]] == skin) out.push_back(t);
    return out;
  }
  static std::vector<Triangle> cornersOf(const TriMesh& mesh,
                                         std::span<const std::uint32_t> numbers) {
    std::vector<Triangle> out;
    for (const std::uint32_t t : numbers) out.push_back(mesh.triangles[t]);
    return out;
  }

  const TriMesh& mesh_;
  std::vector<std::uint32_t> numbers_;  ///< of the tree's triangles
  TriangleTree tree_;
};

/// Lids' points to the margins beside them, the eyes' corners to where the margins end.
void putOnMargins(const TriMesh& mesh, std::vector<LabelledPoint>& points) {
  Diagnostics ignored;  // an eye that does not open is nothing that was asked for here
  const FaceSkin skin(mesh, points);
  const FaceSlits slits = findFaceSlits(mesh, points, ignored);
  const auto putEye = [&](const std::optional<FaceSlit>& slit,
                          const std::array<std::string_view, 4>& labels) {
    if (!slit) return;
    for (LabelledPoint& p : points) {
      const auto label = std::find(labels.begin(), labels.end(), p.label) - labels.begin();
      if (label == 4) continue;
      Vec3d at = positionAt(p.point, mesh.triangles, mesh.positions).cast<double>();
      if (label < 2)
        at = mesh.positions[label == 0 ? slit->upper.front() : slit->upper.back()].cast<double>();
      else
        at = detail::besideOnMargin(
            detail::positionsOf(label == 2 ? slit->upper : slit->lower, mesh.positions),
            slit->along, at);
      p.point = skin.nearest(at, slit->outward);
    }
  };
  putEye(slits.left_eye, {"3.11", "3.7", "3.1", "3.3"});
  putEye(slits.right_eye, {"3.12", "3.8", "3.2", "3.4"});
}

/// Of a head its control points alone, by number: others are somebody else's.
std::vector<LabelledPoint> controlPointsOf(const Character& head) {
  std::vector<LabelledPoint> out;
  const std::span<const std::string_view> numbers = controlPointNumbers();
  for (const LabelledPoint& p : head.points)
    if (const FaceFeature* feature = findFaceFeature(p.label);
        feature != nullptr &&
        std::find(numbers.begin(), numbers.end(), feature->number) != numbers.end())
      out.push_back({std::string(feature->number), p.point});
  return out;
}

}  // namespace

Result<FoundControlPoints> findControlPoints(const TriMesh& head,
                                             std::span<const ReferenceHead> references,
                                             HeadPose pose, Diagnostics& notes,
                                             const Progress& progress) {
  DERM_REQUIRE(!references.empty());
  std::optional<Error> refusal;
  std::optional<FoundControlPoints> best;
  Diagnostics best_notes;
  for (const ReferenceHead& reference : references) {
    DERM_TRY(const Character known, reference.make());
    Diagnostics own_notes;
    const Result<HeadRegistration> fit = registerHeads(known.mesh, controlPointsOf(known), head,
                                                       {.pose = pose}, own_notes, progress);
    if (!fit && fit.error().code == ErrorCode::Cancelled) return fit.error();
    if (!fit) {
      if (!refusal) refusal = fit.error();
      continue;
    }
    if (best && best->residual <= fit->residual) continue;
    best = FoundControlPoints{{}, reference.name, fit->residual, 0};
    for (const LandmarkMatch& m : fit->landmarks) {
      best->points.push_back({m.label, m.point});
      best->confidence +=
          static_cast<double>(m.confidence) / static_cast<double>(fit->landmarks.size());
    }
    best_notes = own_notes;
    if (fit->verdict == RegistrationVerdict::Good) break;
  }
  if (!best) return *refusal;
  putOnMargins(head, best->points);
  DERM_TRY(const FacePoints found, facePoints(best->points, head));
  DERM_CHECK(validateControlPoints(found));
  notes.merge(best_notes);
  return *std::move(best);
}

}  // namespace derm
