#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "derm/mesh/local_refinement.h"

namespace derm::detail {

using Net = RefinableSurface::Net;
using NetEdge = RefinableSurface::Edge;
inline constexpr std::uint32_t kNone = RefinableSurface::kNone;

/// Edges of triangles given by welded vertices. `creases`: sorted keys (see edgeKey) of edges that
/// are sharp whatever their triangles say.
Net makeNet(std::vector<Triangle> welded, std::span<const std::uint64_t> creases);

inline std::uint64_t edgeKey(std::uint32_t a, std::uint32_t b) {
  return a < b ? (std::uint64_t{a} << 32 | b) : (std::uint64_t{b} << 32 | a);
}

inline bool degenerate(const Triangle& t) { return t[0] == t[1] || t[1] == t[2] || t[2] == t[0]; }

/// Where the middle of an edge goes: what is added to (a + b) / 2.
struct MiddleRule {
  std::uint32_t a = 0, b = 0;
  /// Set where the rule is the regular one: c, d, then the wings e, f, g, h.
  bool regular = false;
  std::array<std::uint32_t, 6> around = {};
  std::vector<std::pair<std::uint32_t, double>> entries;  ///< otherwise: welded vertex, weight
};

/// The butterfly's rules on one net. The net must outlive it.
class RefinementRules {
 public:
  /// `welded_count`: one more than the largest welded vertex of the net.
  RefinementRules(const Net& net, std::size_t welded_count);

  MiddleRule middleOf(std::uint32_t edge) const;

 private:
  using Entries = std::vector<std::pair<std::uint32_t, double>>;
  std::uint32_t opposite(std::uint32_t triangle, std::uint32_t edge) const;
  std::uint32_t across(std::uint32_t triangle, std::uint32_t edge) const;
  std::uint32_t otherEnd(std::uint32_t edge, std::uint32_t welded) const;
  std::uint32_t nextEdge(std::uint32_t triangle, std::uint32_t edge, std::uint32_t welded) const;
  /// Neighbours round an interior welded vertex from the edge's far end on; empty where a sharp
  /// edge is met.
  std::vector<std::uint32_t> ring(std::uint32_t welded, std::uint32_t edge) const;
  void addWing(std::uint32_t triangle, std::uint32_t edge, MiddleRule& rule,
               std::size_t wing) const;
  void addRing(std::uint32_t centre, std::span<const std::uint32_t> ring, double share,
               Entries& entries) const;
  void addSharpEnd(std::uint32_t end, std::uint32_t far_end, std::uint32_t edge,
                   Entries& entries) const;

  const Net& net_;
  std::vector<std::uint8_t> sharp_count_;  ///< per welded vertex, at most 3 counted
  /// Per welded vertex its first two sharp edges.
  std::vector<std::array<std::uint32_t, 2>> sharp_at_;
};

}  // namespace derm::detail
