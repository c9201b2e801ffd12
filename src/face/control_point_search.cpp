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

  /// [m] How far towards `forward` the skin lies before `p`; none where it does not.
  std::optional<double> depthAt(const Vec3d& p, const Vec3d& forward, double reach_m) const {
    const auto hit = tree_.firstHit(p + reach_m * forward, p - reach_m * forward);
    if (!hit) return {};
    return reach_m * (1 - 2 * hit->t);
  }

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
    const std::vector<Triangle> welded =
        mapped(mesh.triangles, weldMap(mesh.positions, mesh.triangles));
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

/// The lips' points to the borders of the lips, the mouth's corners to where its slit ends. Lips
/// differ more from head to head than a smooth map can follow: the thin lip of one is half of the
/// full one of another.
class LipBorders {
 public:
  LipBorders(const TriMesh& mesh, const FaceSkin& skin, const FaceSlit& slit)
      : mesh_(mesh), skin_(skin), slit_(slit) {}

  void put(std::vector<LabelledPoint>& points) const {
    const auto find = [&](std::string_view label) {
      return std::find_if(points.begin(), points.end(),
                          [&](const LabelledPoint& p) { return p.label == label; });
    };
    const std::array<std::vector<LabelledPoint>::iterator, 2> corners = {find("8.4"), find("8.3")};
    for (std::size_t i = 0; i < 2; ++i)
      if (corners[i] != points.end())
        putCorner(i == 0 ? slit_.upper.front() : slit_.upper.back(), i == 0 ? -1 : 1,
                  corners[i]->point);
    for (const std::string_view label : {"8.1", "8.5", "8.6"})
      if (const auto p = find(label); p != points.end()) putBorder(slit_.upper, 1, p->point);
    for (const std::string_view label : {"8.2", "8.7", "8.8"})
      if (const auto p = find(label); p != points.end()) putBorder(slit_.lower, -1, p->point);
  }

 private:
  // Shares of the slit's width. A corner's point lies on the skin beside the slit's end, where
  // upper and lower border meet.
  static constexpr double kCornerNearest = 0.01, kCornerFarthest = 0.08;
  static constexpr double kThinnest = 0.08, kThickest = 0.32;  ///< of a lip

  Vec3d at(const SurfacePoint& p) const {
    return positionAt(p, mesh_.triangles, mesh_.positions).cast<double>();
  }

  void putCorner(std::uint32_t end, double outwards, SurfacePoint& point) const {
    const Vec3d corner = mesh_.positions[end].cast<double>();
    const double off = outwards * slit_.along.dot(at(point) - corner) / slit_.width_m;
    const double beside = std::clamp(off, kCornerNearest, kCornerFarthest) * slit_.width_m;
    point = skin_.nearest(corner + outwards * beside * slit_.along, slit_.outward);
  }

  /// Where a lip is most prominent, about half way up its red part (labrale superius and inferius),
  /// is what a shape tells for sure; the border is not far beyond.
  void putBorder(const std::vector<std::uint32_t>& chain, double upwards,
                 SurfacePoint& point) const {
    constexpr double kNearest = 1.0, kFarthest = 1.6;  // of the border, over the prominent height
    constexpr int kSteps = 24;
    const std::vector<Vec3d> margin = detail::positionsOf(chain, mesh_.positions);
    const Vec3d found = at(point), foot = detail::besideOnMargin(margin, slit_.along, found);
    const Vec3d up = upwards * slit_.up;
    double prominent = 0, most = -std::numeric_limits<double>::infinity();
    for (int i = 0; i <= kSteps; ++i) {
      const double share = kThinnest + (kThickest - kThinnest) * i / kSteps;
      const double height = share * slit_.width_m;
      const auto depth = skin_.depthAt(foot + height * up, slit_.outward, slit_.width_m);
      // Chins and noses are farther out still: the first top counts.
      if (!depth || *depth < most) break;
      most = *depth;
      prominent = height;
    }
    if (prominent <= kThinnest * slit_.width_m || prominent >= kThickest * slit_.width_m)
      prominent = 0.13 * slit_.width_m;  // a lip without a top, as most have it
    const double height =
        std::clamp(up.dot(found - foot), kNearest * prominent, kFarthest * prominent);
    const Vec3d border = foot + height * up;
    const auto depth = skin_.depthAt(border, slit_.outward, slit_.width_m);
    point = skin_.nearest(border + depth.value_or(0) * slit_.outward, slit_.outward);
  }

  const TriMesh& mesh_;
  const FaceSkin& skin_;
  const FaceSlit& slit_;
};

/// Lids' points to the margins beside them, the eyes' corners to where the margins end.
void putEyesOnMargins(const TriMesh& mesh, const FaceSkin& skin, const FaceSlits& slits,
                      std::vector<LabelledPoint>& points) {
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

/// The eyes' points to their margins, the lips' points to the lips' borders.
void moveToMargins(const TriMesh& mesh, std::vector<LabelledPoint>& points) {
  Diagnostics ignored;  // what does not open is nothing that was asked for here
  const FaceSkin skin(mesh, points);
  const FaceSlits slits = findFaceSlits(mesh, points, ignored);
  if (slits.mouth) LipBorders(mesh, skin, *slits.mouth).put(points);
  putEyesOnMargins(mesh, skin, slits, points);
  // From better corners the margins are seen a little better.
  putEyesOnMargins(mesh, skin, findFaceSlits(mesh, points, ignored), points);
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

Result<void> areControlPoints(std::span<const LabelledPoint> points, const TriMesh& head) {
  DERM_TRY(const FacePoints found, facePoints(points, head));
  return validateControlPoints(found);
}

}  // namespace

void putOnMargins(const TriMesh& head, std::vector<LabelledPoint>& points) {
  std::vector<LabelledPoint> moved = points;
  moveToMargins(head, moved);
  // Lids that are shut at rest have both margins at one place, and no use for points there.
  if (areControlPoints(moved, head)) points = std::move(moved);
}

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
    RegistrationDesc desc;
    desc.pose = pose;
    desc.source_jaw = [&] { return jawOpening(known); };
    const Result<HeadRegistration> fit =
        registerHeads(known.mesh, controlPointsOf(known), head, desc, own_notes, progress);
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
  DERM_CHECK(areControlPoints(best->points, head));
  notes.merge(best_notes);
  return *std::move(best);
}

}  // namespace derm
