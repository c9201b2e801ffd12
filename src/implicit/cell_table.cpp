#include "implicit/cell_table.h"

#include <bit>
#include <utility>
#include <vector>

#include "derm/base/assert.h"

namespace derm::detail {
namespace {

using Face = std::array<int, 4>;  // corners, counter-clockwise from outside the cell

int edgeBetween(int a, int b) {
  const int axis = std::countr_zero(static_cast<unsigned>(a ^ b));
  const int low = a < b ? a : b;
  return 4 * axis + (low >> (axis + 1) % 3 & 1) + 2 * (low >> (axis + 2) % 3 & 1);
}

std::array<Face, 6> cellFaces() {
  std::array<Face, 6> faces{};
  for (int axis = 0; axis < 3; ++axis) {
    const int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, far = 1 << axis;
    faces[static_cast<std::size_t>(2 * axis)] = {v, u | v, u, 0};
    faces[static_cast<std::size_t>(2 * axis + 1)] = {far, far | u, far | u | v, far | v};
  }
  return faces;
}

/// Bit per face an edge lies on.
std::array<int, 12> facesOfEdges() {
  std::array<int, 12> on{};
  const std::array<Face, 6> faces = cellFaces();
  for (std::size_t f = 0; f < 6; ++f)
    for (std::size_t i = 0; i < 4; ++i)
      on[static_cast<std::size_t>(edgeBetween(faces[f][i], faces[f][(i + 1) % 4]))] |= 1 << f;
  return on;
}

/// For each crossed edge the one that follows it in its loop, -1 for others.
std::array<int, 12> loopLinks(int inside) {
  std::array<int, 12> next;
  next.fill(-1);
  for (const Face& face : cellFaces())
    for (std::size_t i = 0; i < 4; ++i) {
      const auto in = [&](std::size_t k) { return (inside >> face[k % 4] & 1) != 0; };
      if (in(i) || !in(i + 1)) continue;
      std::size_t last = i + 1;
      while (in(last + 1)) ++last;
      next[static_cast<std::size_t>(edgeBetween(face[i], face[i + 1 == 4 ? 0 : i + 1]))] =
          edgeBetween(face[last % 4], face[(last + 1) % 4]);
    }
  return next;
}

/// Cuts the loop's part from i to j into triangles without diagonals in a face, if it can be done.
bool cutLoop(const std::vector<int>& loop, std::size_t i, std::size_t j,
             std::vector<std::array<int, 3>>& out) {
  static const std::array<int, 12> kFaces = facesOfEdges();
  if (j - i < 2) return true;
  const auto allowed = [&](std::size_t p, std::size_t q) {
    return q - p < 2 || (kFaces[static_cast<std::size_t>(loop[p])] &
                         kFaces[static_cast<std::size_t>(loop[q])]) == 0;
  };
  for (std::size_t k = i + 1; k < j; ++k) {
    if (!allowed(i, k) || !allowed(k, j)) continue;
    const std::size_t before = out.size();
    out.push_back({loop[i], loop[k], loop[j]});
    if (cutLoop(loop, i, k, out) && cutLoop(loop, k, j, out)) return true;
    out.resize(before);
  }
  return false;
}

CellCase makeCase(int inside) {
  CellCase result;
  std::array<int, 12> next = loopLinks(inside);
  std::vector<std::array<int, 3>> triangles;
  for (int start = 0; start < 12; ++start) {
    std::vector<int> loop;
    for (int e = start; next[static_cast<std::size_t>(e)] >= 0;) {
      loop.push_back(e);
      e = std::exchange(next[static_cast<std::size_t>(e)], -1);
    }
    if (loop.empty()) continue;
    const bool cut = cutLoop(loop, 0, loop.size() - 1, triangles);
    DERM_REQUIRE(cut);
  }
  DERM_REQUIRE(triangles.size() <= 5);
  for (const std::array<int, 3>& t : triangles) {
    for (std::size_t k = 0; k < 3; ++k)
      result.edges[3 * std::size_t{result.triangle_count} + k] = static_cast<std::uint8_t>(t[k]);
    ++result.triangle_count;
  }
  return result;
}

}  // namespace

const std::array<CellCase, 256>& cellTable() {
  static const std::array<CellCase, 256> table = [] {
    std::array<CellCase, 256> cases;
    for (int inside = 0; inside < 256; ++inside)
      cases[static_cast<std::size_t>(inside)] = makeCase(inside);
    return cases;
  }();
  return table;
}

}  // namespace derm::detail
