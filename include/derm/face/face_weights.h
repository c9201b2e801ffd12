#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/face/control_zones.h"
#include "derm/face/face_points.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// How zones that overlap share a vertex. Let a = max(0, 1 - d) in each zone, d the squared
/// distance from its centre over its radii.
enum class ZoneBlend {
  /// w = a / sum of a (Dutreve 2011, eq. 3.19). Tears the skin where zones end: a vertex just
  /// inside one zone follows it fully, its neighbour not at all.
  Normalised,
  /// w = a, and the head has what is left of 1. Smooth, but a control point's own vertex has about
  /// half of its joint's motion where zones overlap; FacePoser makes up for it.
  Residual,
  /// Zones and head share as in Residual, zones among each other by a / (1 - a), which is infinite
  /// at a zone's own centre: there it has all. For posing by hand; less smooth between the points.
  Interpolating,
};

/// A zone made larger or smaller than the rule has it.
struct ZoneScale {
  std::string point;              ///< number or name of the control point
  Vec3d factors = Vec3d::Ones();  ///< (0,100] along left, up, forward of the face
};

struct FaceWeightsDesc {
  ZoneBlend blend = ZoneBlend::Residual;
  bool lids_along_margins = true;  ///< see faceWeights()
  /// The lips' points share the skin around the mouth's slit instead of having ellipsoids; see
  /// faceWeights(). Not with ZoneBlend::Normalised.
  bool lips_around_slit = true;
  bool with_jaw = true;  ///< see controlZones()
  /// Weights are evened out along the skin, over about a tenth of the mouth's width.
  bool smooth = true;
  /// Upper lip and lid do not follow the points of the lower ones, and the other way round: sides
  /// are told by ways along the skin, which lead around a slit.
  bool separate_sides = true;
  std::size_t max_influences = 4;  ///< [2,29] per vertex, the head's among them; engines take 4
  std::vector<ZoneScale> zone_scales;
};

/// How much every vertex follows each control point, in double; the rest follows the head.
struct FaceWeights {
  static constexpr std::uint32_t kHead = 28;  ///< as Share::point: the head itself
  struct Share {
    std::uint32_t point = 0;  ///< into controlPointNumbers(), or kHead
    double weight = 0;        ///< (0,1]

    bool operator==(const Share&) const = default;
  };
  std::vector<std::uint32_t> offsets;  ///< vertexCount() + 1
  std::vector<Share> shares;           ///< rows sorted by weight, sum 1 to 1e-12
  bool lips_part = true;               ///< whether there is a slit between the lips

  std::size_t vertexCount() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::span<const Share> operator[](std::size_t vertex) const {
    return std::span(shares).subspan(offsets[vertex], offsets[vertex + 1] - offsets[vertex]);
  }
  /// 0 where the vertex does not follow that point.
  double weight(std::size_t vertex, std::uint32_t point) const;
};

/// Weights of a head from its control points alone, by zones of influence. Vertices at one position
/// get the same. Vertices in no zone follow the head exactly.
///
/// Sides: s = (l - u) / (l + u) from the ways u and l along the skin to the upper and lower contour
/// (through 8.5 8.1 8.6 and 8.7 8.2 8.8; through 3.1 and 3.3) is 1 on one and -1 on the other; the
/// other side's zones fade out from s = 0 to 1/2. It does not matter whether the slit is a hole or
/// leads into a mouth bag or socket.
///
/// Lids (lids_along_margins): along the margin from corner to corner a lid's weight is the height
/// of the opening over the way that its own motion would go there, so that a blink shuts the eye
/// along its whole length; above and below it falls off with the distance from the margin.
///
/// Lips (lips_around_slit): the lips' points share the skin by periodic B-splines over the angle of
/// elliptic coordinates about the slit, fading along the skin: both lips agree at the corners, and
/// an open mouth has round ones. Inside the mouth the rest follows the chin below, the head above.
///
/// Other pieces of the mesh: those that lie close to the skin and are flat (lashes, brows) take the
/// weights of the skin below them; those in the mouth below the lips' line (lower teeth, tongue)
/// follow the chin's point; all others (eyeballs, upper teeth, hair) follow the head.
///
/// Requires a valid mesh. Errors: points that validateControlPoints() rejects, a zone scale of no
/// control point or out of range. Notes: face-lips-joined where no slit lets the lips part.
/// Cost: O(28 n) and seven fields of distances, O(n log n) each.
Result<FaceWeights> faceWeights(const TriMesh& mesh, const FacePoints& points,
                                const FaceWeightsDesc& desc, Diagnostics& notes);

}  // namespace derm
