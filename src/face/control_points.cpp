#include "derm/face/control_points.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "derm/base/number_text.h"
#include "derm/face/face_features.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/triangle_tree.h"
#include "derm/mesh/weld.h"

namespace derm {
namespace {

constexpr double kFarOff = 0.02;  // of the head's diagonal

Error bad(const NamedPosition& given, std::string message, ErrorCode code = ErrorCode::BadData) {
  return Error{code, std::move(message), {.element = "point \"" + given.label + "\""}};
}

/// Per triangle the connected piece it belongs to; seams do not part it.
std::vector<std::uint32_t> piecesOfTriangles(const TriMesh& mesh) {
  const std::vector<std::uint32_t> weld = weldMap(mesh.positions, mesh.triangles);
  const std::vector<Triangle> welded = mapped(mesh.triangles, weld);
  const Pieces pieces = connectedPieces(welded, mesh.vertexCount());
  std::vector<std::uint32_t> out;
  out.reserve(welded.size());
  for (const Triangle& t : welded) out.push_back(pieces.of_vertex[t[0]]);
  return out;
}

/// [m] of the head: that of the mesh, or, where it is a whole body, what the points span, twice.
double headDiagonal(std::span<const Vec3d> positions, const TriMesh& mesh) {
  const double all = bounds(mesh.positions).diagonal();
  if (positions.size() < 8) return all;
  Vec3d low = positions[0], high = positions[0];
  for (const Vec3d& p : positions) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  return std::min(all, 2 * (high - low).norm());
}

/// A corner of some triangle that is this vertex.
std::optional<SurfacePoint> atVertex(const TriMesh& mesh, std::uint64_t vertex) {
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    for (int c = 0; c < 3; ++c)
      if (mesh.triangles[t][static_cast<std::size_t>(c)] == vertex)
        return SurfacePoint{static_cast<std::uint32_t>(t), Vec3f::Unit(c)};
  return {};
}

/// The triangles of one piece, and where they are in the mesh.
struct Part {
  TriangleTree tree;
  std::vector<std::uint32_t> triangle;

  std::optional<TriangleTree::Nearest> nearest(const Vec3d& p) const {
    std::optional<TriangleTree::Nearest> found = tree.closestPoint(p);
    if (found) found->triangle = triangle[found->triangle];
    return found;
  }
};

Part partOf(const TriMesh& mesh, std::span<const std::uint32_t> pieces, std::uint32_t piece) {
  Part out;
  std::vector<Triangle> kept;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    if (pieces[t] == piece) {
      kept.push_back(mesh.triangles[t]);
      out.triangle.push_back(static_cast<std::uint32_t>(t));
    }
  out.tree = TriangleTree(std::span<const Vec3f>(mesh.positions), kept);
  return out;
}

/// The piece that comes up most often; of equals the first.
std::uint32_t mostCommon(std::span<const std::uint32_t> pieces) {
  std::vector<std::uint32_t> sorted(pieces.begin(), pieces.end());
  std::sort(sorted.begin(), sorted.end());
  std::uint32_t best = sorted.front();
  std::size_t most = 0;
  for (std::size_t first = 0; first < sorted.size();) {
    std::size_t last = first;
    while (last < sorted.size() && sorted[last] == sorted[first]) ++last;
    if (last - first > most) {
      most = last - first;
      best = sorted[first];
    }
    first = last;
  }
  return best;
}

}  // namespace

Result<std::vector<LabelledPoint>> placePoints(std::span<const NamedPosition> named,
                                               const TriMesh& mesh, double metres_per_unit,
                                               Diagnostics& notes) {
  std::vector<LabelledPoint> out;
  std::set<std::string> labels;
  std::vector<Vec3d> positions;  // of every point, on or off the surface
  for (const NamedPosition& given : named) {
    const FaceFeature* feature = findFaceFeature(given.label);
    LabelledPoint point{feature != nullptr ? std::string(feature->number) : given.label, {}};
    if (!labels.insert(point.label).second)
      return bad(given, "the point " + point.label + " has two labels");
    if (given.vertex) {
      const std::optional<SurfacePoint> corner =
          *given.vertex < mesh.vertexCount() ? atVertex(mesh, *given.vertex) : std::nullopt;
      if (!corner)
        return bad(given, *given.vertex < mesh.vertexCount()
                              ? "vertex " + std::to_string(*given.vertex) + " is on no triangle"
                              : "vertex " + std::to_string(*given.vertex) + ", but there are " +
                                    std::to_string(mesh.vertexCount()));
      point.point = *corner;
      positions.push_back(mesh.positions[*given.vertex].cast<double>());
    } else {
      positions.push_back(metres_per_unit * given.position);
    }
    out.push_back(std::move(point));
  }
  const TriangleTree all(std::span<const Vec3f>(mesh.positions), mesh.triangles);
  if (named.empty()) return out;
  if (all.empty()) return bad(named.front(), "the mesh has no triangles");
  const std::vector<std::uint32_t> pieces = piecesOfTriangles(mesh);
  std::vector<std::uint32_t> nearest_pieces;
  for (std::size_t i = 0; i < named.size(); ++i)
    nearest_pieces.push_back(
        pieces[named[i].vertex ? out[i].point.triangle : all.closestPoint(positions[i])->triangle]);
  const Part face = partOf(mesh, pieces, mostCommon(nearest_pieces));
  const double limit = kFarOff * headDiagonal(positions, mesh);
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (named[i].vertex) continue;
    std::optional<TriangleTree::Nearest> at = face.nearest(positions[i]);
    if (at->distance > limit) at = all.closestPoint(positions[i]);
    out[i].point = {at->triangle, at->barycentric.cast<float>()};
    if (at->distance > limit)
      notes.warn("point-off-surface", "point \"" + named[i].label + "\"",
                 "lay " + millimetres(at->distance) +
                     " off the surface and was put onto it; is the unit right?");
  }
  return out;
}

}  // namespace derm
