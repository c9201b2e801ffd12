#include "derm/mesh/closedness.h"

#include <algorithm>
#include <vector>

namespace derm {

Closedness checkClosed(std::span<const Triangle> triangles) {
  Closedness out;
  std::vector<std::uint64_t> edges;  // from in the high half, to in the low half
  edges.reserve(triangles.size() * 3);
  for (const Triangle& t : triangles) {
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) {
      ++out.degenerate_triangles;
      continue;
    }
    out.empty = false;
    for (int c = 0; c < 3; ++c) edges.push_back(std::uint64_t{t[c]} << 32 | t[(c + 1) % 3]);
  }
  std::sort(edges.begin(), edges.end());
  const auto note = [&](std::uint64_t edge) {
    if (!out.first_bad_edge)
      out.first_bad_edge = {static_cast<std::uint32_t>(edge >> 32),
                            static_cast<std::uint32_t>(edge)};
  };
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (i > 0 && edges[i] == edges[i - 1]) {
      ++out.repeated_edges;
      note(edges[i]);
      continue;
    }
    const std::uint64_t reverse = edges[i] << 32 | edges[i] >> 32;
    if (!std::binary_search(edges.begin(), edges.end(), reverse)) {
      ++out.boundary_edges;
      note(edges[i]);
    }
  }
  return out;
}

}  // namespace derm
