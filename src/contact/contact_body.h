#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/anim/skin.h"
#include "derm/base/diagnostics.h"
#include "derm/contact/contact_layer.h"
#include "derm/mesh/measured_surface.h"

#include "contact/contact_grid.h"

/// Private to room contact: what is known of a character before it moves.
namespace derm::detail {

/// Some bones that move as one: a finger's end, a forearm. What skin finds itself inside of.
struct ContactPart {
  std::uint32_t slot = 0;               ///< whose matrix carries it
  std::vector<std::uint32_t> labelled;  ///< points that follow it most
  std::vector<std::uint32_t> members;  ///< points that follow it by more than kTerritory, and those
  Vec3f low = Vec3f::Zero(), high = Vec3f::Zero();  ///< box of the members at rest
};

/// Of a point: how much it follows a part.
struct ContactWeight {
  std::uint32_t part = 0;
  float weight = 0;
};

/// Lengths of the method, in metres; they grow with the character.
struct ContactLengths {
  float unit = 0;  ///< a millimetre on a grown-up: the root of the skin's area / 1370
  /// About 1 / unit, a power of two: what is multiplied by it keeps its digits, and squares of
  /// areas stay within floats however small the character is.
  float to_units = 1;
  float gap = 0;
  float max_cap = 0;
  float max_thickness = 0;
};

/// An edge that may fold, between triangles (a, b, c) and (b, a, d) of `own`.
struct ContactEdge {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  std::uint32_t left = 0, right = 0;  ///< the triangles
};

/// Points are welded vertices, then apexes that close holes. Immutable.
struct ContactBody {
  ContactLengths lengths;
  double max_move = 0.35;
  int passes = 3;
  IndexLists vertices_of_point;  ///< of the mesh, of welded vertices
  IndexLists borders;            ///< of apexes: the points they are the mean of
  std::size_t welded_count = 0;
  std::vector<Triangle> own;      ///< the skin's triangles, without those that close it
  std::vector<Triangle> closed;   ///< all of pieces that take part
  IndexLists triangles_of_point;  ///< of `own`
  /// Per triangle of `own` and edge (k, k + 1): the triangle beyond, or kNoPoint.
  std::vector<std::array<std::uint32_t, 3>> across;
  IndexLists neighbours;
  /// Edges that more than one bone moves, and that are no creases at rest.
  std::vector<ContactEdge> edges;
  std::vector<ContactPart> parts;
  std::vector<std::uint32_t> weight_offsets;  ///< of points
  std::vector<ContactWeight> weights;         ///< largest first
  std::vector<Vec3f> rest;
  /// Half of the distance at rest to skin that is not beside the point, at most some millimetres: a
  /// point that a part would carry no further from where it is has met none of its skin.
  std::vector<float> room;
  std::vector<float> rest_distance;  ///< of the grid at each point: its own error
  std::vector<float> thickness;
  std::vector<float> areas;               ///< of the skin around each point [m^2]
  std::vector<std::int8_t> rest_winding;  ///< just outside each point: 1 under a cloth
  std::vector<std::uint8_t> takes_part;   ///< piece with a volume, right side out, no prop
  std::vector<std::uint32_t> piece_of_point;
  /// Pairs of pieces (smaller first, sorted) that lie in each other at rest: arms that are put into
  /// a trunk, a body in its clothes. They do not meet.
  std::vector<std::array<std::uint32_t, 2>> joined_pieces;
  std::vector<std::uint8_t> seeks;  ///< takes part, and is not in contact at rest
  ContactGrid grid;

  std::size_t pointCount() const { return welded_count + borders.rowCount(); }
  std::span<const ContactWeight> weightsOf(std::size_t point) const {
    return std::span(weights).subspan(weight_offsets[point],
                                      weight_offsets[point + 1] - weight_offsets[point]);
  }
  /// Index into `weights`, or kNoPoint where the point does not follow the part.
  std::uint32_t entryOf(std::uint32_t point, std::uint32_t part) const {
    for (std::uint32_t k = weight_offsets[point]; k < weight_offsets[point + 1]; ++k)
      if (weights[k].part == part) return k;
    return kNoPoint;
  }
  bool areNeighbours(std::uint32_t a, std::uint32_t b) const {
    for (const std::uint32_t q : neighbours[a])
      if (q == b) return true;
    return false;
  }
  /// Whether the pieces of two points are one, or apart at rest.
  bool mayMeet(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t p = piece_of_point[a], q = piece_of_point[b];
    return p == q ||
           !std::binary_search(joined_pieces.begin(), joined_pieces.end(),
                               std::array<std::uint32_t, 2>{std::min(p, q), std::max(p, q)});
  }
  /// One of a's neighbours next to b, or b itself.
  bool withinTwoRings(std::uint32_t a, std::uint32_t b) const;
  /// Neighbours, and what lies within two rings and some millimetres at rest: on coarse meshes two
  /// rings go around a limb.
  bool isBeside(std::uint32_t a, std::uint32_t b) const;
};

/// A point belongs to a part's territory from this weight on.
inline constexpr float kTerritory = 0.25f;
/// A point may lead into a part's skin from this weight on.
inline constexpr float kSeedWeight = 0.1f;

/// All but `seeks`, which is `takes_part` then. Requires a skin with a row per vertex. `is_prop`
/// has an entry per vertex, or none: pieces of nothing but props take no part.
ContactBody makeContactBody(const TriMesh& rest, const Skeleton& skeleton, const Skin& skin,
                            std::span<const std::uint8_t> is_prop, const ContactDesc& desc,
                            std::string_view element, Diagnostics& notes);

/// Takes over the numbers of another desc: all that depends on them but `seeks`. True where that
/// depends on what changed, too.
bool takeNumbers(ContactBody& body, const ContactDesc& desc);

}  // namespace derm::detail
