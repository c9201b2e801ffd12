#include "derm/mesh/adjacency.h"

#include <algorithm>

#include "derm/base/disjoint_sets.h"

namespace derm {
namespace {

/// Turns counts in offsets[i + 1] into starts, and returns a cursor per row to fill from.
std::vector<std::uint32_t> startRows(IndexLists& lists) {
  std::partial_sum(lists.offsets.begin(), lists.offsets.end(), lists.offsets.begin());
  lists.indices.resize(lists.offsets.back());
  return {lists.offsets.begin(), lists.offsets.end() - 1};
}

bool repeated(const Triangle& t, int corner) {
  for (int before = 0; before < corner; ++before)
    if (t[before] == t[corner]) return true;
  return false;
}

}  // namespace

IndexLists vertexTriangles(std::span<const Triangle> triangles, std::size_t vertex_count) {
  IndexLists out;
  out.offsets.assign(vertex_count + 1, 0);
  for (const Triangle& t : triangles)
    for (int c = 0; c < 3; ++c)
      if (!repeated(t, c)) ++out.offsets[t[c] + 1];
  std::vector<std::uint32_t> cursor = startRows(out);
  for (std::size_t i = 0; i < triangles.size(); ++i)
    for (int c = 0; c < 3; ++c)
      if (!repeated(triangles[i], c))
        out.indices[cursor[triangles[i][c]]++] = static_cast<std::uint32_t>(i);
  return out;
}

IndexLists vertexNeighbours(std::span<const Triangle> triangles, std::size_t vertex_count) {
  IndexLists all;  // both neighbours from each triangle, with repeats
  all.offsets.assign(vertex_count + 1, 0);
  for (const Triangle& t : triangles)
    for (int c = 0; c < 3; ++c) all.offsets[t[c] + 1] += 2;
  std::vector<std::uint32_t> cursor = startRows(all);
  for (const Triangle& t : triangles)
    for (int c = 0; c < 3; ++c) {
      all.indices[cursor[t[c]]++] = t[(c + 1) % 3];
      all.indices[cursor[t[c]]++] = t[(c + 2) % 3];
    }
  IndexLists out;
  out.offsets.assign(vertex_count + 1, 0);
  out.indices.reserve(all.indices.size() / 2 + 1);
  for (std::size_t v = 0; v < vertex_count; ++v) {
    const auto begin = all.indices.begin() + all.offsets[v];
    const auto end = all.indices.begin() + all.offsets[v + 1];
    std::sort(begin, end);
    const auto last = std::unique(begin, end);
    for (auto it = begin; it != last; ++it)
      if (*it != v) out.indices.push_back(*it);
    out.offsets[v + 1] = static_cast<std::uint32_t>(out.indices.size());
  }
  return out;
}

Pieces connectedPieces(std::span<const Triangle> triangles, std::size_t vertex_count) {
  DisjointSets sets(vertex_count);
  for (const Triangle& t : triangles)
    for (int c = 1; c < 3; ++c) sets.unite(t[0], t[c]);
  constexpr std::uint32_t kLoose = 0xFFFFFFFFu;
  std::vector<std::uint32_t> number(vertex_count, kLoose);  // at roots
  for (const Triangle& t : triangles) number[sets.rootOf(t[0])] = 0;
  Pieces out;
  for (std::uint32_t& n : number)  // the root is a piece's first vertex
    if (n != kLoose) n = out.count++;
  out.of_vertex.resize(vertex_count);
  bool any_loose = false;
  for (std::uint32_t v = 0; v < vertex_count; ++v) {
    const std::uint32_t n = number[sets.rootOf(v)];
    any_loose = any_loose || n == kLoose;
    out.of_vertex[v] = std::min(n, out.count);
  }
  if (any_loose) ++out.count;
  return out;
}

std::vector<Triangle> mapped(std::span<const Triangle> triangles,
                             std::span<const std::uint32_t> map) {
  std::vector<Triangle> out(triangles.begin(), triangles.end());
  for (Triangle& t : out)
    for (std::uint32_t& v : t) v = map[v];
  return out;
}

}  // namespace derm
