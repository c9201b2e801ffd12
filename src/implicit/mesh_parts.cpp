#include "implicit/mesh_parts.h"

#include <algorithm>

#include "derm/mesh/adjacency.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/measures.h"

namespace derm::detail {
namespace {

struct Piece {
  std::vector<std::uint32_t> triangles;
  std::vector<Triangle> corners;  ///< welded
  Bounds box;
};

bool meet(const Bounds& a, const Bounds& b) {
  return (a.low.array() <= b.high.array()).all() && (b.low.array() <= a.high.array()).all();
}

std::vector<Piece> piecesOf(const TriMesh& mesh, const std::vector<Triangle>& welded) {
  const Pieces pieces = connectedPieces(welded, mesh.vertexCount());
  std::vector<Piece> all(pieces.count);
  for (std::uint32_t t = 0; t < welded.size(); ++t) {
    Piece& piece = all[pieces.of_vertex[welded[t][0]]];
    piece.triangles.push_back(t);
    piece.corners.push_back(welded[t]);
  }
  std::erase_if(all, [](const Piece& p) { return p.triangles.empty(); });
  for (Piece& piece : all) {
    std::vector<Vec3f> points;
    for (const Triangle& t : piece.corners)
      for (const std::uint32_t v : t) points.push_back(mesh.positions[v]);
    piece.box = bounds(points);
  }
  return all;
}

void add(const Piece& piece, float turn, MeshPart& part) {
  part.triangles.insert(part.triangles.end(), piece.triangles.begin(), piece.triangles.end());
  part.turns.insert(part.turns.end(), piece.triangles.size(), turn);
}

/// Ascending triangles, whatever order pieces came in: what is written does not depend on it.
void sortTriangles(MeshPart& part) {
  std::vector<std::pair<std::uint32_t, float>> both;
  for (std::size_t i = 0; i < part.triangles.size(); ++i)
    both.emplace_back(part.triangles[i], part.turns[i]);
  std::sort(both.begin(), both.end());
  for (std::size_t i = 0; i < both.size(); ++i) {
    part.triangles[i] = both[i].first;
    part.turns[i] = both[i].second;
  }
}

}  // namespace

MeshParts splitIntoParts(const TriMesh& mesh, const std::vector<Triangle>& welded,
                         bool inside_out) {
  MeshParts out;
  std::vector<std::vector<Bounds>> boxes;  // of each closed part's pieces
  MeshPart open{.triangles = {}, .turns = {}, .closed = false};
  for (const Piece& piece : piecesOf(mesh, welded)) {
    if (!checkClosed(piece.corners).closed()) {
      add(piece, inside_out ? -1.0f : 1.0f, open);
      continue;
    }
    const bool inwards = volume(mesh.positions, piece.corners) < 0;
    out.turned_pieces += inwards;
    const auto fits = std::find_if(boxes.begin(), boxes.end(), [&](const auto& some) {
      return std::none_of(some.begin(), some.end(),
                          [&](const Bounds& box) { return meet(box, piece.box); });
    });
    const auto at = static_cast<std::size_t>(fits - boxes.begin());
    if (fits == boxes.end()) {
      boxes.emplace_back();
      out.parts.emplace_back();
    }
    boxes[at].push_back(piece.box);
    add(piece, inwards ? -1.0f : 1.0f, out.parts[at]);
  }
  if (!open.triangles.empty()) out.parts.push_back(std::move(open));
  for (MeshPart& part : out.parts) sortTriangles(part);
  return out;
}

}  // namespace derm::detail
