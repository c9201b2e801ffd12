#include "mesh/refinement_rules.h"

#include <algorithm>

#include "derm/base/assert.h"

namespace derm::detail {
namespace {

constexpr double kTension = 1.0 / 16;  // the butterfly's w; 1/16 reproduces cubics

struct Side {
  std::uint64_t key;
  std::uint32_t triangle;
  std::uint8_t side;
  bool forward;
};

void add(std::vector<std::pair<std::uint32_t, double>>& entries, std::uint32_t welded,
         double weight) {
  for (auto& [at, sum] : entries)
    if (at == welded) {
      sum += weight;
      return;
    }
  entries.emplace_back(welded, weight);
}

}  // namespace

Net makeNet(std::vector<Triangle> welded, std::span<const std::uint64_t> creases) {
  Net net{.welded = std::move(welded), .edges = {}, .edge = {}};
  net.edges.assign(net.welded.size(), Triangle{kNone, kNone, kNone});
  std::vector<Side> sides;
  sides.reserve(3 * net.welded.size());
  for (std::uint32_t t = 0; t < net.welded.size(); ++t)
    for (std::uint8_t i = 0; i < 3; ++i) {
      const std::uint32_t a = net.welded[t][i];
      const std::uint32_t b = net.welded[t][(i + 1) % 3];
      if (a != b) sides.push_back({edgeKey(a, b), t, i, a < b});
    }
  std::sort(sides.begin(), sides.end(), [](const Side& x, const Side& y) {
    if (x.key != y.key) return x.key < y.key;
    return x.triangle != y.triangle ? x.triangle < y.triangle : x.side < y.side;
  });
  for (std::size_t first = 0; first < sides.size();) {
    std::size_t end = first;
    const auto id = static_cast<std::uint32_t>(net.edge.size());
    NetEdge edge{.a = static_cast<std::uint32_t>(sides[first].key >> 32),
                 .b = static_cast<std::uint32_t>(sides[first].key)};
    std::size_t counted = 0;
    int turns = 0;
    for (; end < sides.size() && sides[end].key == sides[first].key; ++end) {
      net.edges[sides[end].triangle][sides[end].side] = id;
      if (degenerate(net.welded[sides[end].triangle])) continue;
      if (counted < 2) edge.triangles[counted] = sides[end].triangle;
      ++counted;
      turns += sides[end].forward ? 1 : -1;
    }
    edge.sharp = counted != 2 || turns != 0 ||
                 std::binary_search(creases.begin(), creases.end(), sides[first].key);
    net.edge.push_back(edge);
    first = end;
  }
  return net;
}

RefinementRules::RefinementRules(const Net& net, std::size_t welded_count)
    : net_(net), sharp_count_(welded_count, 0), sharp_at_(welded_count, {kNone, kNone}) {
  for (std::uint32_t e = 0; e < net.edge.size(); ++e) {
    if (!net.edge[e].sharp) continue;
    for (const std::uint32_t welded : {net.edge[e].a, net.edge[e].b}) {
      if (sharp_count_[welded] < 2) sharp_at_[welded][sharp_count_[welded]] = e;
      if (sharp_count_[welded] < 3) ++sharp_count_[welded];
    }
  }
}

std::uint32_t RefinementRules::opposite(std::uint32_t triangle, std::uint32_t edge) const {
  for (int i = 0; i < 3; ++i)
    if (net_.edges[triangle][i] == edge) return net_.welded[triangle][(i + 2) % 3];
  DERM_REQUIRE(false && "the edge is one of the triangle's");
  return kNone;
}

std::uint32_t RefinementRules::across(std::uint32_t triangle, std::uint32_t edge) const {
  const auto& both = net_.edge[edge].triangles;
  return both[0] == triangle ? both[1] : both[0];
}

std::uint32_t RefinementRules::otherEnd(std::uint32_t edge, std::uint32_t welded) const {
  return net_.edge[edge].a == welded ? net_.edge[edge].b : net_.edge[edge].a;
}

std::uint32_t RefinementRules::nextEdge(std::uint32_t triangle, std::uint32_t edge,
                                        std::uint32_t welded) const {
  for (const std::uint32_t other : net_.edges[triangle])
    if (other != edge && (net_.edge[other].a == welded || net_.edge[other].b == welded))
      return other;
  DERM_REQUIRE(false && "two edges of a triangle meet at each corner");
  return kNone;
}

std::vector<std::uint32_t> RefinementRules::ring(std::uint32_t welded, std::uint32_t edge) const {
  std::vector<std::uint32_t> out;
  std::uint32_t at = edge;
  std::uint32_t triangle = net_.edge[edge].triangles[0];
  do {
    if (net_.edge[at].sharp) return {};
    out.push_back(otherEnd(at, welded));
    at = nextEdge(triangle, at, welded);
    triangle = across(triangle, at);
  } while (at != edge);
  return out;
}

/// The point beyond one of the four outer edges of the two triangles at an edge.
void RefinementRules::addWing(std::uint32_t triangle, std::uint32_t edge, MiddleRule& rule,
                              std::size_t wing) const {
  const NetEdge& border = net_.edge[edge];
  if (!border.sharp) {
    rule.around[wing] = opposite(across(triangle, edge), edge);
    add(rule.entries, rule.around[wing], -kTension);
    return;
  }
  rule.regular = false;  // mirrored: a ghost
  add(rule.entries, border.a, -kTension);
  add(rule.entries, border.b, -kTension);
  add(rule.entries, opposite(triangle, edge), kTension);
}

void RefinementRules::addRing(std::uint32_t centre, std::span<const std::uint32_t> ring,
                              double share, Entries& entries) const {
  const std::vector<double> s = butterflyRing(static_cast<int>(ring.size()));
  // 3/4 centre + sum s_j n_j, minus the middle (centre + n_0) / 2.
  add(entries, centre, share * 0.25);
  add(entries, ring[0], -share * 0.5);
  for (std::size_t j = 0; j < ring.size(); ++j) add(entries, ring[j], share * s[j]);
}

void RefinementRules::addSharpEnd(std::uint32_t end, std::uint32_t far_end, std::uint32_t edge,
                                  Entries& entries) const {
  add(entries, end, kTension);
  if (sharp_count_[end] == 2) {
    const auto& [first, second] = sharp_at_[end];
    add(entries, otherEnd(first == edge ? second : first, end), -kTension);
    return;
  }
  add(entries, end, -2 * kTension);  // mirrored: 2 end - far_end
  add(entries, far_end, kTension);
}

MiddleRule RefinementRules::middleOf(std::uint32_t edge) const {
  const NetEdge& e = net_.edge[edge];
  MiddleRule rule{.a = e.a, .b = e.b};
  if (e.sharp) {
    addSharpEnd(e.a, e.b, edge, rule.entries);
    addSharpEnd(e.b, e.a, edge, rule.entries);
    return rule;
  }
  const std::vector<std::uint32_t> ring_a = ring(e.a, edge);
  const std::vector<std::uint32_t> ring_b = ring(e.b, edge);
  const auto odd = [](const auto& r) { return r.size() >= 3 && r.size() != 6; };
  if (odd(ring_a) || odd(ring_b)) {
    const double share = odd(ring_a) && odd(ring_b) ? 0.5 : 1.0;
    if (odd(ring_a)) addRing(e.a, ring_a, share, rule.entries);
    if (odd(ring_b)) addRing(e.b, ring_b, share, rule.entries);
    return rule;
  }
  rule.regular = true;
  std::size_t wing = 2;
  for (std::size_t side = 0; side < 2; ++side) {
    const std::uint32_t t = e.triangles[side];
    rule.around[side] = opposite(t, edge);
    add(rule.entries, rule.around[side], 2 * kTension);
    for (const std::uint32_t outer : net_.edges[t])
      if (outer != edge) addWing(t, outer, rule, wing++);
  }
  return rule;
}

}  // namespace derm::detail
