#include "weights/bone_sources.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "derm/base/parallel.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/triangle_tree.h"
#include "derm/mesh/winding_number.h"

namespace derm::detail {
namespace {

/// Bones this much farther away than the nearest count as equally near (as the paper's authors do).
constexpr double kEquallyNear = 1e-4;
/// Crossings in the last part of the way to a bone do not hide it: bones stick out a little.
constexpr double kSightEnd = 0.9;
/// Bones this many times farther away than the nearest are not worth seeing: what is that far
/// belongs to another limb, or is seen by chance along the inside of this one.
constexpr double kFarthestSeen = 2.0;
/// A bone that is followed unseen counts as this many times farther away than it is, so that what
/// neighbours see weighs more.
constexpr double kUnseenFarther = 2.0;
/// Surfaces this near to either end of the way do not hide a bone (share of the diagonal).
constexpr double kClearance = 1e-6;
/// A little above one half: points in the plane of a flat sheet have one half, give or take.
constexpr double kInside = 0.6;
/// Cosine of 60 degrees: within that of straight inwards a bone is behind a surface. What is seen
/// along the surface (an arm, past the round of a chest) is not.
constexpr double kInwards = 0.5;
constexpr std::size_t kSourcesPerChunk = 64;

/// Points along a bone at which it is asked what piece it is inside of.
constexpr int kSamples = 5;
using Samples = std::array<bool, kSamples>;

/// One connected piece of surface and the bones its vertices may look at.
struct Piece {
  std::vector<Triangle> triangles;
  TriangleTree tree;
  Vec3d low = Vec3d::Constant(std::numeric_limits<double>::infinity());
  Vec3d high = Vec3d::Constant(-std::numeric_limits<double>::infinity());
  std::vector<Samples> open;  ///< per bone which parts may be looked at; empty = all
  /// Of a piece with a border, how its normals turn to its inner side: -1, or +1 where it is inside
  /// out; 0 for closed pieces, whose inside the winding number tells for sure.
  double inwards = 0;
};

std::vector<Piece> splitIntoPieces(const WeldedSurface& surface, const Pieces& labels) {
  std::vector<Piece> out(labels.count);
  for (const Triangle& t : surface.triangles) {
    Piece& piece = out[labels.of_vertex[t[0]]];
    piece.triangles.push_back(t);
    for (const std::uint32_t v : t) {
      piece.low = piece.low.cwiseMin(surface.positions[v]);
      piece.high = piece.high.cwiseMax(surface.positions[v]);
    }
  }
  for (Piece& p : out) p.tree = TriangleTree(surface.positions, p.triangles);
  return out;
}

/// Adds the winding numbers of the samples inside to `turns`: its sign is that of the piece.
Samples samplesInside(const BoneSegment& bone, const Piece& piece, std::span<const Vec3d> positions,
                      double& turns) {
  Samples out{};
  for (int k = 0; k < kSamples; ++k) {
    const Vec3d p = bone.from + (k / (kSamples - 1.0)) * (bone.to - bone.from);
    if (!(p.array() >= piece.low.array()).all() || !(p.array() <= piece.high.array()).all())
      continue;
    const double winding = windingNumber(positions, piece.triangles, p);
    out[k] = std::abs(winding) > kInside;
    if (out[k]) turns += winding;
  }
  return out;
}

bool any(const Samples& s) { return std::find(s.begin(), s.end(), true) != s.end(); }

/// Pieces with bones inside do not look at what is inside other pieces only, nor at the ends that
/// bones of other pieces stick out into the air. Near the borders of an open piece the winding
/// number falls off, so there it is asked on which side of the surface a bone is (see onInnerSide).
void closeOtherPiecesBones(const WeldedSurface& surface, std::vector<Piece>& pieces) {
  const auto with_triangles = std::count_if(pieces.begin(), pieces.end(),
                                            [](const Piece& p) { return !p.triangles.empty(); });
  if (with_triangles < 2) return;
  const std::size_t bones = surface.bones.size();
  std::vector<std::vector<Samples>> inside(pieces.size());
  parallelFor(pieces.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::vector<Samples> here(bones);
      bool has_bones = false;
      double turns = 0;
      for (std::size_t b = 0; b < bones; ++b) {
        here[b] = samplesInside(surface.bones[b], pieces[i], surface.positions, turns);
        has_bones = has_bones || any(here[b]);
      }
      if (!has_bones) continue;
      inside[i] = std::move(here);
      if (checkClosed(pieces[i].triangles).boundary_edges > 0)
        pieces[i].inwards = turns < 0 ? 1 : -1;
    }
  });
  std::vector<Samples> anywhere(bones, Samples{});
  for (const std::vector<Samples>& here : inside)
    for (std::size_t b = 0; b < here.size(); ++b)
      for (int k = 0; k < kSamples; ++k) anywhere[b][k] = anywhere[b][k] || here[b][k];
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (inside[i].empty()) continue;
    pieces[i].open = inside[i];
    for (std::size_t b = 0; b < bones; ++b)
      if (any(inside[i][b]) || !any(anywhere[b]))
        for (int k = 0; k < kSamples; ++k)
          pieces[i].open[b][k] = inside[i][b][k] || !anywhere[b][k];
  }
}

/// Normals of all welded vertices (sums of the triangles' area vectors), averaged with those around
/// twice, so that folds of cloth and the jags of a hem do not count.
std::vector<Vec3d> smoothNormals(const WeldedSurface& surface) {
  std::vector<Vec3d> out(surface.size(), Vec3d::Zero()), sum;
  for (const Triangle& t : surface.triangles) {
    const Vec3d& a = surface.positions[t[0]];
    const Vec3d area = Vec3d(surface.positions[t[1]] - a).cross(Vec3d(surface.positions[t[2]] - a));
    for (const std::uint32_t v : t) out[v] += area;
  }
  for (int pass = 0; pass < 2; ++pass) {
    sum.assign(surface.size(), Vec3d::Zero());
    for (const Triangle& t : surface.triangles)
      for (const std::uint32_t v : t) sum[v] += out[t[0]] + out[t[1]] + out[t[2]];
    out.swap(sum);
  }
  return out;
}

/// Whether a welded vertex of an open piece has the point behind it, as a sleeve has the arm: then
/// it is this piece's to follow even beyond its borders. What is before it belongs to somebody
/// else.
bool onInnerSide(const Piece& piece, const Vec3d& position, const Vec3d& normal,
                 const Vec3d& point) {
  const Vec3d way = point - position;
  return piece.inwards != 0 &&
         piece.inwards * normal.dot(way) >= kInwards * normal.norm() * way.norm();
}

struct Candidate {
  double distance = 0;
  std::uint32_t segment = 0;
  Vec3d point = Vec3d::Zero();
};

void nearestFirst(const WeldedSurface& surface, const Piece& piece, const Vec3d& p,
                  const Vec3d& normal, std::vector<Candidate>& out) {
  const auto gather = [&](bool all) {
    out.clear();
    for (std::uint32_t i = 0; i < surface.bones.size(); ++i) {
      const BoneSegment& b = surface.bones[i];
      const double t = closestOnSegment(p, b.from, b.to);
      const Vec3d point = b.from + t * (b.to - b.from);
      if (!all && !piece.open[i][std::lround(t * (kSamples - 1))] &&
          !onInnerSide(piece, p, normal, point))
        continue;
      out.push_back({(point - p).norm(), i, point});
    }
  };
  gather(piece.open.empty());
  if (out.empty()) gather(true);  // a piece with bones, but none of their near ends in it
  // Hair has thousands of bones, of which look() comes to a few.
  double nearest = std::numeric_limits<double>::infinity();
  for (const Candidate& c : out) nearest = std::min(nearest, c.distance);
  std::erase_if(out, [&](const Candidate& c) {
    return c.distance > kFarthestSeen * nearest + surface.rounding;
  });
  std::sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.segment < b.segment;
  });
}

void look(const WeldedSurface& surface, const Piece& piece, std::uint32_t welded,
          std::span<const Candidate> candidates, BoneSources& out) {
  const TriangleTree::Sight sight{.clearance_m = kClearance + 4 * surface.rounding,
                                  .t_end = kSightEnd,
                                  .ignore_vertex = welded};
  double nearest = std::numeric_limits<double>::infinity();
  std::vector<std::uint32_t>& slots = out.slots[welded];
  for (const Candidate& c : candidates) {
    if (c.distance > nearest * (1 + kEquallyNear) + surface.rounding) break;
    if (c.distance > kFarthestSeen * candidates.front().distance + surface.rounding) break;
    if (piece.tree.blocks(surface.positions[welded], c.point, sight)) continue;
    nearest = std::min(nearest, c.distance);
    slots.push_back(surface.bones[c.segment].slot);
  }
  if (slots.empty()) {
    out.unseen[welded] = true;
    nearest = kUnseenFarther * candidates.front().distance;
    slots.push_back(surface.bones[candidates.front().segment].slot);
  }
  out.distance[welded] = nearest;
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
}

}  // namespace

Result<BoneSources> findBoneSources(const WeldedSurface& surface, const Progress& progress) {
  const auto cancelled = [] { return Error{ErrorCode::Cancelled, "cancelled", {}}; };
  BoneSources out;
  out.distance.resize(surface.size());
  out.unseen.resize(surface.size());
  out.slots.resize(surface.size());
  const Pieces labels = connectedPieces(surface.triangles, surface.size());
  std::vector<Piece> pieces = splitIntoPieces(surface, labels);
  closeOtherPiecesBones(surface, pieces);
  const std::vector<Vec3d> normals = smoothNormals(surface);
  constexpr std::size_t kRound = 4096;  // welded vertices between two reports
  for (std::size_t start = 0; start < surface.size(); start += kRound) {
    const double share = static_cast<double>(start) / static_cast<double>(surface.size());
    if (!keepGoing(progress, 0.5 * share, "finding visible bones")) return cancelled();
    const std::size_t count = std::min(kRound, surface.size() - start);
    parallelFor(count, kSourcesPerChunk, [&](std::size_t begin, std::size_t end) {
      std::vector<Candidate> candidates;
      for (std::size_t i = begin; i < end; ++i) {
        const auto welded = static_cast<std::uint32_t>(start + i);
        const Piece& piece = pieces[labels.of_vertex[welded]];
        nearestFirst(surface, piece, surface.positions[welded], normals[welded], candidates);
        look(surface, piece, welded, candidates, out);
      }
    });
  }
  return out;
}

}  // namespace derm::detail
