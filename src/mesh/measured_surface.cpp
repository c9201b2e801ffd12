#include "derm/mesh/measured_surface.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "derm/base/disjoint_sets.h"
#include "derm/base/parallel.h"
#include "derm/mesh/measures.h"
#include "derm/mesh/weld.h"

namespace derm {
namespace {

constexpr std::size_t kVerticesPerChunk = 8192;  // vertices or welded vertices at a time
constexpr std::uint32_t kUnset = 0xFFFFFFFFu;

/// A directed edge and how much more often it is walked than its reverse.
struct BorderEdge {
  std::uint32_t from, to, surplus;
};

void weldVertices(std::span<const Vec3f> positions, MeasuredSurface& out) {
  const std::vector<std::uint32_t> map = weldMap(positions);
  out.welded_of_vertex.resize(map.size());
  std::uint32_t welded_count = 0;
  for (std::uint32_t v = 0; v < map.size(); ++v)
    out.welded_of_vertex[v] = map[v] == v ? welded_count++ : out.welded_of_vertex[map[v]];
  IndexLists& lists = out.vertices_of_welded;
  lists.offsets.assign(welded_count + 1, 0);
  for (const std::uint32_t welded : out.welded_of_vertex) ++lists.offsets[welded + 1];
  std::partial_sum(lists.offsets.begin(), lists.offsets.end(), lists.offsets.begin());
  lists.indices.resize(map.size());
  std::vector<std::uint32_t> cursor(lists.offsets.begin(), lists.offsets.end() - 1);
  for (std::uint32_t v = 0; v < map.size(); ++v)
    lists.indices[cursor[out.welded_of_vertex[v]]++] = v;
}

/// Edges that their reverses do not cancel, sorted. `odd` counts undirected edges that no closed or
/// open, evenly wound surface has: more than one triangle on one side.
std::vector<BorderEdge> borderEdges(std::span<const Triangle> triangles,
                                    std::vector<std::uint32_t>& odd) {
  struct Side {
    std::uint64_t edge;  // smaller end in the high half
    bool forward;        // walked from the smaller to the larger end
  };
  std::vector<Side> sides;
  sides.reserve(triangles.size() * 3);
  for (const Triangle& t : triangles)
    for (int c = 0; c < 3; ++c) {
      const std::uint32_t a = t[c], b = t[(c + 1) % 3];
      sides.push_back({std::uint64_t{std::min(a, b)} << 32 | std::max(a, b), a < b});
    }
  std::sort(sides.begin(), sides.end(),
            [](const Side& a, const Side& b) { return a.edge < b.edge; });
  std::vector<BorderEdge> out;
  for (std::size_t i = 0; i < sides.size();) {
    std::uint32_t forward = 0, backward = 0;
    const std::uint64_t edge = sides[i].edge;
    for (; i < sides.size() && sides[i].edge == edge; ++i)
      ++(sides[i].forward ? forward : backward);
    const auto low = static_cast<std::uint32_t>(edge >> 32),
               high = static_cast<std::uint32_t>(edge);
    if (forward > 1 || backward > 1) odd.push_back(low);
    if (forward > backward) out.push_back({low, high, forward - backward});
    if (backward > forward) out.push_back({high, low, backward - forward});
  }
  return out;
}

/// One apex per connected part of the border, fans against the border's edges.
void closeBorders(std::span<const BorderEdge> edges, MeasuredSurface& out) {
  const std::size_t welded_count = out.weldedCount();
  DisjointSets sets(welded_count);
  std::vector<bool> on_border(welded_count, false);
  for (const BorderEdge& e : edges) {
    sets.unite(e.from, e.to);
    on_border[e.from] = on_border[e.to] = true;
  }
  std::vector<std::uint32_t> apex(welded_count, kUnset);
  std::vector<std::vector<std::uint32_t>> rows;
  for (std::uint32_t v = 0; v < welded_count; ++v) {
    if (!on_border[v]) continue;
    const std::uint32_t root = sets.rootOf(v);  // the smallest, so it has been met
    if (root == v) {
      apex[v] = static_cast<std::uint32_t>(rows.size());
      rows.emplace_back();
    }
    rows[apex[root]].push_back(v);
  }
  out.borders.offsets.assign(1, 0);
  for (const std::vector<std::uint32_t>& row : rows) {
    out.borders.indices.insert(out.borders.indices.end(), row.begin(), row.end());
    out.borders.offsets.push_back(static_cast<std::uint32_t>(out.borders.indices.size()));
  }
  for (const BorderEdge& e : edges) {
    const auto m = static_cast<std::uint32_t>(welded_count + apex[sets.rootOf(e.from)]);
    for (std::uint32_t n = 0; n < e.surplus; ++n) out.triangles.push_back({e.to, e.from, m});
  }
}

void measurePieces(std::span<const Vec3f> positions, MeasuredSurface& out) {
  Pieces pieces = connectedPieces(out.triangles, out.pointCount());
  out.piece_count = pieces.count;
  out.piece_of_point = std::move(pieces.of_vertex);
  out.piece_of_triangle.reserve(out.triangles.size());
  for (const Triangle& t : out.triangles) out.piece_of_triangle.push_back(out.piece_of_point[t[0]]);

  std::vector<Vec3d> points(out.pointCount());
  measurePoints(out, positions, centroid(positions), points);
  out.piece_volumes.assign(out.piece_count, 0);
  out.piece_areas.assign(out.piece_count, 0);
  for (std::size_t i = 0; i < out.triangles.size(); ++i) {
    const Triangle& t = out.triangles[i];
    const std::uint32_t piece = out.piece_of_triangle[i];
    out.piece_volumes[piece] += points[t[0]].dot(points[t[1]].cross(points[t[2]])) / 6;
    if (i < out.ownTriangleCount())
      out.piece_areas[piece] +=
          Vec3d(points[t[1]] - points[t[0]]).cross(Vec3d(points[t[2]] - points[t[0]])).norm() / 2;
  }
}

/// Whether triangles have a triangle across each of their edges, among themselves.
bool isClosed(std::span<const Triangle> triangles) {
  std::vector<std::uint32_t> odd;
  return borderEdges(triangles, odd).empty();
}

/// A solid whose every face has a second one behind it, for renderers that draw one side only,
/// encloses nothing when both are counted. Of such sides that are closed the outer one is measured;
/// sheets keep both, and no volume.
void dropInnerSides(std::span<const Vec3f> positions, std::span<const Triangle> triangles,
                    std::string_view element, MeasuredSurface& out, Diagnostics& notes) {
  std::vector<Triangle> own;
  for (const std::uint32_t t : out.source_triangles) own.push_back(triangles[t]);
  const DoubledFaces doubled = findDoubledFaces(out.triangles, own);
  if (!doubled.any) return;
  std::map<std::uint32_t, std::vector<std::uint32_t>> sides;
  for (std::uint32_t t = 0; t < out.triangles.size(); ++t)
    if (doubled.side[t] != DoubledFaces::kNone) sides[doubled.side[t]].push_back(t);
  const Vec3d origin = centroid(positions);
  const auto at = [&](std::uint32_t welded) {
    return Vec3d(positions[out.vertices_of_welded[welded][0]].cast<double>() - origin);
  };
  std::vector<bool> dropped(out.triangles.size(), false);
  for (const auto& [first, members] : sides) {
    std::vector<Triangle> side;
    double volume = 0;
    for (const std::uint32_t t : members) {
      side.push_back(out.triangles[t]);
      volume += at(side.back()[0]).dot(at(side.back()[1]).cross(at(side.back()[2]))) / 6;
    }
    if (!(volume > 0) || !isClosed(side)) continue;
    notes.info(
        "measure-doubled", element,
        "each face of a closed surface has another one behind it; the outer side is measured",
        out.source_triangles[first]);
    for (const std::uint32_t t : members) dropped[doubled.partner[t]] = true;
  }
  std::size_t kept = 0;
  for (std::size_t t = 0; t < out.triangles.size(); ++t) {
    if (dropped[t]) continue;
    out.triangles[kept] = out.triangles[t];
    out.source_triangles[kept++] = out.source_triangles[t];
  }
  out.triangles.resize(kept);
  out.source_triangles.resize(kept);
}

void notePieces(const MeasuredSurface& s, std::string_view element, Diagnostics& notes) {
  std::vector<std::uint32_t> first(s.piece_count, kUnset);
  for (std::size_t welded = s.weldedCount(); welded-- > 0;)
    first[s.piece_of_point[welded]] = s.vertices_of_welded[welded][0];
  for (std::uint32_t piece = 0; piece < s.piece_count; ++piece) {
    if (s.piece_areas[piece] == 0) continue;  // a vertex without triangles
    if (!s.hasVolume(piece))
      notes.info("measure-no-volume", element, "a piece of the surface encloses no volume",
                 first[piece]);
    else if (s.piece_volumes[piece] < 0)
      notes.info("measure-inside-out", element,
                 "a piece of the surface is inside out; its volume counts negative", first[piece]);
  }
}

template <class Vec>
void measurePointsOf(const MeasuredSurface& s, std::span<const Vec> positions, const Vec3d& origin,
                     std::span<Vec3d> points) noexcept {
  DERM_REQUIRE(positions.size() == s.vertexCount() && points.size() == s.pointCount());
  const std::span<const std::uint32_t> starts = s.vertices_of_welded.offsets;
  const std::span<const std::uint32_t> members = s.vertices_of_welded.indices;
  parallelFor(s.weldedCount(), kVerticesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t welded = begin; welded < end; ++welded) {
      const std::uint32_t from = starts[welded], to = starts[welded + 1];
      Vec3d sum = positions[members[from]].template cast<double>();
      for (std::uint32_t k = from + 1; k < to; ++k)
        sum += positions[members[k]].template cast<double>();
      if (to - from > 1) sum /= static_cast<double>(to - from);
      points[welded] = sum - origin;
    }
  });
  completeApexes(s, points);
}

template <class T>
void completeApexesOf(const MeasuredSurface& s, std::span<T> values, T zero) noexcept {
  DERM_REQUIRE(values.size() == s.pointCount());
  for (std::size_t apex = 0; apex < s.apexCount(); ++apex) {
    const std::span<const std::uint32_t> border = s.borders[apex];
    T sum = zero;
    for (const std::uint32_t welded : border) sum += values[welded];
    values[s.weldedCount() + apex] = sum / static_cast<double>(border.size());
  }
}

}  // namespace

bool MeasuredSurface::hasVolume(std::size_t piece) const {
  // Rounding of float positions leaves about 1e-7 of size^3 in the volume of a flat sheet.
  const double size = std::sqrt(piece_areas[piece]);
  return std::abs(piece_volumes[piece]) > 1e-6 * size * size * size;
}

MeasuredSurface makeMeasuredSurface(std::span<const Vec3f> positions,
                                    std::span<const Triangle> triangles, std::string_view element,
                                    Diagnostics& notes) {
  MeasuredSurface out;
  weldVertices(positions, out);
  if (out.weldedCount() < out.vertexCount())
    notes.info("measure-welded", element,
               "vertices at one position are measured as one: " +
                   std::to_string(out.vertexCount() - out.weldedCount()) + " joined to others");
  for (std::uint32_t i = 0; i < triangles.size(); ++i) {
    const Triangle& t = triangles[i];
    const Triangle p = {out.welded_of_vertex[t[0]], out.welded_of_vertex[t[1]],
                        out.welded_of_vertex[t[2]]};
    if (p[0] == p[1] || p[1] == p[2] || p[2] == p[0]) {
      notes.info("measure-degenerate", element,
                 "a triangle without three different positions is not measured", i);
      continue;
    }
    out.triangles.push_back(p);
    out.source_triangles.push_back(i);
  }
  dropInnerSides(positions, triangles, element, out, notes);
  std::vector<std::uint32_t> odd;
  const std::vector<BorderEdge> edges = borderEdges(out.triangles, odd);
  for (const std::uint32_t welded : odd)
    notes.warn("measure-odd-edges", element,
               "an edge has several triangles on one side (not a manifold, or wound unevenly); "
               "they are closed off for measuring",
               out.vertices_of_welded[welded][0]);
  closeBorders(edges, out);
  for (std::size_t apex = 0; apex < out.apexCount(); ++apex)
    notes.info("measure-closed-border", element, "an open border is closed by a fan for measuring",
               out.vertices_of_welded[out.borders[apex][0]][0]);
  measurePieces(positions, out);
  notePieces(out, element, notes);
  return out;
}

void measurePoints(const MeasuredSurface& surface, std::span<const Vec3f> positions,
                   const Vec3d& origin, std::span<Vec3d> points) noexcept {
  measurePointsOf(surface, positions, origin, points);
}
void measurePoints(const MeasuredSurface& surface, std::span<const Vec3d> positions,
                   const Vec3d& origin, std::span<Vec3d> points) noexcept {
  measurePointsOf(surface, positions, origin, points);
}

void completeApexes(const MeasuredSurface& surface, std::span<Vec3d> values) noexcept {
  completeApexesOf<Vec3d>(surface, values, Vec3d::Zero());
}
void completeApexes(const MeasuredSurface& surface, std::span<double> values) noexcept {
  completeApexesOf<double>(surface, values, 0.0);
}

void spreadApexes(const MeasuredSurface& surface, std::span<Vec3d> gradient) noexcept {
  DERM_REQUIRE(gradient.size() == surface.pointCount());
  for (std::size_t apex = 0; apex < surface.apexCount(); ++apex) {
    const std::span<const std::uint32_t> border = surface.borders[apex];
    Vec3d& of_apex = gradient[surface.weldedCount() + apex];
    const Vec3d part = of_apex / static_cast<double>(border.size());
    for (const std::uint32_t welded : border) gradient[welded] += part;
    of_apex.setZero();
  }
}

void addToVertices(const MeasuredSurface& surface, std::span<const Vec3d> displacement,
                   std::span<Vec3f> positions) noexcept {
  DERM_REQUIRE(displacement.size() >= surface.weldedCount() &&
               positions.size() == surface.vertexCount());
  parallelFor(positions.size(), kVerticesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      const Vec3d& u = displacement[surface.welded_of_vertex[v]];
      positions[v] = (positions[v].cast<double>() + u).cast<float>();
    }
  });
}

}  // namespace derm
