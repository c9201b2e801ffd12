#include "face/head_pieces.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include "derm/mesh/adjacency.h"
#include "derm/mesh/weld.h"

namespace derm::detail {
namespace {

/// Pieces with this share of the largest one's area are as large.
constexpr double kAsLarge = 0.5;
/// Of the smaller box's volume: what two heads may share.
constexpr double kOverlap = 0.2;

using Box = Eigen::AlignedBox3d;

bool apart(const Box& a, const Box& b) {
  const Box both = a.intersection(b);
  return both.isEmpty() || both.volume() < kOverlap * std::min(a.volume(), b.volume());
}

}  // namespace

std::vector<TriMesh> largePiecesApart(const TriMesh& mesh) {
  const std::vector<Triangle> welded =
      mapped(mesh.triangles, weldMap(mesh.positions, mesh.triangles));
  const Pieces pieces = connectedPieces(welded, mesh.vertexCount());
  std::vector<double> areas(pieces.count, 0);
  std::vector<Box> boxes(pieces.count);
  for (const Triangle& t : welded) {
    const std::uint32_t piece = pieces.of_vertex[t[0]];
    const Vec3d a = mesh.positions[t[0]].cast<double>();
    const Vec3d b = mesh.positions[t[1]].cast<double>(), c = mesh.positions[t[2]].cast<double>();
    areas[piece] += 0.5 * (b - a).cross(c - a).norm();
    for (const Vec3d& p : {a, b, c}) boxes[piece].extend(p);
  }
  const double largest = areas.empty() ? 0 : *std::max_element(areas.begin(), areas.end());
  std::vector<std::uint32_t> large;
  for (std::uint32_t i = 0; i < pieces.count; ++i)
    if (areas[i] >= kAsLarge * largest && areas[i] > 0) large.push_back(i);
  if (large.size() < 2) return {};
  for (const std::uint32_t i : large)
    for (const std::uint32_t j : large)
      if (i < j && !apart(boxes[i], boxes[j])) return {};
  std::vector<TriMesh> out;
  for (const std::uint32_t i : large) {
    TriMesh& piece = out.emplace_back();
    piece.positions = mesh.positions;
    for (std::size_t t = 0; t < welded.size(); ++t)
      if (pieces.of_vertex[welded[t][0]] == i) piece.triangles.push_back(mesh.triangles[t]);
  }
  return out;
}

}  // namespace derm::detail
