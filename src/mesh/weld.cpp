#include "derm/mesh/weld.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "derm/base/disjoint_sets.h"
#include "derm/mesh/adjacency.h"

namespace derm {
namespace {

bool lessByPosition(const Vec3f& a, const Vec3f& b) {
  if (a.x() != b.x()) return a.x() < b.x();
  if (a.y() != b.y()) return a.y() < b.y();
  return a.z() < b.z();
}

}  // namespace

std::vector<std::uint32_t> weldMap(std::span<const Vec3f> positions) {
  std::vector<std::uint32_t> order(positions.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (lessByPosition(positions[a], positions[b])) return true;
    if (lessByPosition(positions[b], positions[a])) return false;
    return a < b;
  });
  std::vector<std::uint32_t> map(positions.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && positions[order[i]] == positions[order[i - 1]];
    map[order[i]] = same ? map[order[i - 1]] : order[i];
  }
  return map;
}

DoubledFaces findDoubledFaces(std::span<const Triangle> welded,
                              std::span<const Triangle> triangles) {
  constexpr std::uint32_t kNone = DoubledFaces::kNone;
  struct Face {
    Triangle corners;  // sorted
    bool odd;          // wound against their order
    std::uint32_t triangle;
  };
  std::vector<Face> faces;
  for (std::uint32_t t = 0; t < welded.size(); ++t) {
    Triangle c = welded[t];
    if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) continue;
    std::rotate(c.begin(), std::min_element(c.begin(), c.end()), c.end());
    const bool odd = c[1] > c[2];
    if (odd) std::swap(c[1], c[2]);
    faces.push_back({c, odd, t});
  }
  std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) {
    return std::tie(a.corners, a.odd, a.triangle) < std::tie(b.corners, b.odd, b.triangle);
  });
  DoubledFaces out;
  out.partner.assign(welded.size(), kNone);
  out.side.assign(welded.size(), kNone);
  for (std::size_t i = 0; i < faces.size();) {
    std::size_t odd = i, end = i;
    while (end < faces.size() && faces[end].corners == faces[i].corners) ++end;
    while (odd < end && !faces[odd].odd) ++odd;
    for (std::size_t a = i, b = odd; a < odd && b < end; ++a, ++b) {
      out.partner[faces[a].triangle] = faces[b].triangle;
      out.partner[faces[b].triangle] = faces[a].triangle;
      out.any = true;
    }
    i = end;
  }
  if (!out.any) return out;

  DisjointSets sides(welded.size());
  struct Side {
    std::uint32_t from, to, triangle;
  };
  std::vector<Side> edges;
  std::vector<std::uint32_t> first_at;  // per vertex a doubled triangle
  for (std::uint32_t t = 0; t < welded.size(); ++t) {
    if (out.partner[t] == kNone) continue;
    for (int k = 0; k < 3; ++k) {
      edges.push_back({welded[t][k], welded[t][(k + 1) % 3], t});
      const std::uint32_t v = triangles[t][k];
      if (v >= first_at.size()) first_at.resize(v + 1, kNone);
      if (first_at[v] == kNone) first_at[v] = t;
      sides.unite(first_at[v], t);
    }
  }
  std::sort(edges.begin(), edges.end(), [](const Side& a, const Side& b) {
    return std::tie(a.from, a.to, a.triangle) < std::tie(b.from, b.to, b.triangle);
  });
  for (const Side& e : edges) {
    auto back = std::lower_bound(
        edges.begin(), edges.end(), Side{e.to, e.from, 0}, [](const Side& a, const Side& b) {
          return std::tie(a.from, a.to, a.triangle) < std::tie(b.from, b.to, b.triangle);
        });
    // Where many sheets meet they are one all the same: looking at a few keeps knots cheap.
    for (int few = 0; few < 4 && back != edges.end() && back->from == e.to && back->to == e.from;
         ++few, ++back)
      if (back->triangle != out.partner[e.triangle]) sides.unite(e.triangle, back->triangle);
  }
  for (std::uint32_t t = 0; t < welded.size(); ++t)
    if (out.partner[t] != kNone) out.side[t] = sides.rootOf(t);
  return out;
}

std::vector<std::uint32_t> weldMap(std::span<const Vec3f> positions,
                                   std::span<const Triangle> triangles) {
  std::vector<std::uint32_t> map = weldMap(positions);
  const DoubledFaces doubled = findDoubledFaces(mapped(triangles, map), triangles);
  if (!doubled.any) return map;
  constexpr std::uint32_t kUnset = DoubledFaces::kNone, kShared = kUnset - 1;
  std::vector<std::uint32_t> side(positions.size(), kUnset);
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (const std::uint32_t v : triangles[t])
      side[v] = doubled.partner[t] == kUnset || side[v] == kShared ? kShared : doubled.side[t];
  for (std::uint32_t& s : side)
    if (s == kUnset) s = kShared;
  // The first vertex of each position and side stands for them.
  std::vector<std::uint32_t> order(positions.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](std::uint32_t v) { return std::tie(map[v], side[v]); };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return key(a) != key(b) ? key(a) < key(b) : a < b;
  });
  std::vector<std::uint32_t> out(positions.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && key(order[i]) == key(order[i - 1]);
    out[order[i]] = same ? out[order[i - 1]] : order[i];
  }
  return out;
}

std::size_t weldedCount(std::span<const std::uint32_t> map) {
  std::size_t count = 0;
  for (std::size_t v = 0; v < map.size(); ++v) count += map[v] == v;
  return count;
}

}  // namespace derm
