#include "head_slits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>

#include "derm/base/disjoint_sets.h"
#include "derm/base/parallel.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/triangle_tree.h"

namespace derm::detail {
namespace {

constexpr double kRegion = 1.6;     // face units around the origin
constexpr double kReach = 0.16;     // a rim has open and closed samples this near
constexpr double kThreshold = 0.2;  // of openness: inside below
constexpr double kRayLength = 1.5;
constexpr int kRays = 72;
constexpr std::size_t kMaxVertices = 20000;
constexpr double kFineEdge = 0.1;  // of a slit's length: steps of the rim that resolve it

using Edge = std::pair<std::uint32_t, std::uint32_t>;

/// In the front of the head, ears left out.
bool inRegion(const Vec3d& p) {
  return p.squaredNorm() < kRegion * kRegion && std::abs(p.x()) < 1.15 && p.z() > -0.6;
}

/// Of these triangles the piece that has the largest area within one face unit of the origin: the
/// skin. Teeth, tongues, lashes and eyeballs have borders and hollows too, but no slits.
std::vector<Triangle> skinOf(std::span<const Vec3d> positions,
                             std::span<const Triangle> triangles) {
  const Pieces pieces = connectedPieces(triangles, positions.size());
  std::vector<double> area(pieces.count, 0.0);
  for (const Triangle& t : triangles) {
    const Vec3d &a = positions[t[0]], &b = positions[t[1]], &c = positions[t[2]];
    if ((a + b + c).squaredNorm() < 9)
      area[pieces.of_vertex[t[0]]] += (b - a).cross(c - a).norm() / 2;
  }
  std::vector<Triangle> skin;
  if (area.empty()) return skin;
  const auto largest =
      static_cast<std::uint32_t>(std::max_element(area.begin(), area.end()) - area.begin());
  for (const Triangle& t : triangles)
    if (pieces.of_vertex[t[0]] == largest) skin.push_back(t);
  return skin;
}

/// Points at equal shares of a polyline's length.
std::vector<Vec3d> spaced(const std::vector<Vec3d>& line, std::size_t count) {
  std::vector<double> along(line.size(), 0.0);
  for (std::size_t i = 1; i < line.size(); ++i)
    along[i] = along[i - 1] + (line[i] - line[i - 1]).norm();
  std::vector<Vec3d> out;
  std::size_t at = 1;
  for (std::size_t k = 1; k <= count; ++k) {
    const double wanted = along.back() * static_cast<double>(k) / static_cast<double>(count + 1);
    while (at + 1 < line.size() && along[at] < wanted) ++at;
    const double step = along[at] - along[at - 1];
    const double share = step > 0 ? (wanted - along[at - 1]) / step : 0.0;
    out.push_back(line[at - 1] + share * (line[at] - line[at - 1]));
  }
  return out;
}

/// A side of a rim.
struct RimSide {
  std::vector<Vec3d> points;
  std::vector<std::uint32_t> vertices;
};

/// Upper and lower side of a rim that is one closed curve without branches. `edges` are those of
/// the mesh that its points lie on.
void splitRim(Slit& slit, const std::vector<Vec3d>& points, const std::vector<Edge>& edges,
              const std::vector<std::vector<std::uint32_t>>& neighbours, std::uint32_t left,
              std::uint32_t right) {
  if (neighbours[right].size() != 2 || left == right) return;
  std::vector<RimSide> sides;
  for (const std::uint32_t first : neighbours[right]) {
    std::vector<Vec3d> line = {points[right], points[first]};
    RimSide side;
    std::uint32_t before = right;
    std::uint32_t at = first;
    while (at != left) {
      side.vertices.push_back(edges[at].first);
      side.vertices.push_back(edges[at].second);
      if (neighbours[at].size() != 2 || line.size() > points.size()) return;
      const std::uint32_t next =
          neighbours[at][0] == before ? neighbours[at][1] : neighbours[at][0];
      before = at;
      at = next;
      line.push_back(points[at]);
    }
    side.points = spaced(line, Slit::kSides);
    sides.push_back(std::move(side));
  }
  const auto height = [](const RimSide& side) {
    double sum = 0;
    for (const Vec3d& p : side.points) sum += p.y();
    return sum;
  };
  if (height(sides[0]) < height(sides[1])) std::swap(sides[0], sides[1]);
  slit.upper = std::move(sides[0].points);
  slit.lower = std::move(sides[1].points);
  slit.upper_vertices = std::move(sides[0].vertices);
  slit.lower_vertices = std::move(sides[1].vertices);
}

/// How finely a rim with steps of this length resolves a slit.
double resolutionOf(const Slit& slit, double step) {
  const double fineness = kFineEdge * slit.length / std::max(step, 1e-9);
  return std::min(1.0, fineness * fineness);
}

}  // namespace

Slit slitBetween(std::span<const Vec3d> positions, std::span<const std::uint32_t> upper,
                 std::span<const std::uint32_t> lower) {
  Slit slit;
  double steps = 0, edges = 0;
  const auto side = [&](std::span<const std::uint32_t> chain) {
    std::vector<Vec3d> line;
    for (const std::uint32_t v : chain) {
      line.push_back(positions[v]);
      slit.centre += positions[v] / static_cast<double>(upper.size() + lower.size());
      if (line.size() < 2) continue;
      steps += (line.back() - line[line.size() - 2]).norm();
      ++edges;
    }
    return spaced(line, Slit::kSides);
  };
  slit.upper = side(upper);
  slit.lower = side(lower);
  slit.right = positions[upper.front()];
  slit.left = positions[upper.back()];
  slit.length = (slit.left - slit.right).norm();
  slit.resolution = resolutionOf(slit, edges > 0 ? steps / edges : 0);
  slit.upper_vertices.assign(upper.begin(), upper.end());
  slit.lower_vertices.assign(lower.begin(), lower.end());
  return slit;
}

std::vector<Slit> findSlits(std::span<const Vec3d> positions, std::span<const Vec3d> normals,
                            std::span<const Triangle> triangles, const Samples& samples,
                            double min_length) {
  std::vector<Vec3d> open, closed;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples.positions[i].norm() > kRegion + kReach) continue;
    (samples.openness[i] > kThreshold ? open : closed).push_back(samples.positions[i]);
  }
  const Tree3 open_tree = treeOf(open);
  const Tree3 closed_tree = treeOf(closed);

  // Triangles near the face, and vertices where inside and outside meet.
  std::vector<Triangle> near;
  std::vector<std::uint32_t> rim_vertices;
  std::vector<char> state(positions.size(), 0);  // 1 seen, 2 in the rim zone
  for (const Triangle& t : triangles) {
    bool inside = false;
    for (const std::uint32_t v : t)
      inside = inside || positions[v].squaredNorm() < (kRegion + 0.5) * (kRegion + 0.5);
    if (inside) near.push_back(t);
  }
  const std::vector<Triangle> skin = skinOf(positions, near);
  if (!closed.empty() && !open.empty())
    for (const Triangle& t : skin)
      for (const std::uint32_t v : t) {
        if (state[v] != 0 || !inRegion(positions[v])) continue;
        state[v] = 1;
        if (closed_tree.nearest(treePoint(positions[v])).squared > kReach * kReach ||
            open_tree.nearest(treePoint(positions[v])).squared > kReach * kReach)
          continue;
        state[v] = 2;
        rim_vertices.push_back(v);
      }
  if (rim_vertices.size() > kMaxVertices) return {};

  std::vector<double> openness(positions.size(), -1.0);
  if (!rim_vertices.empty()) {
    const TriangleTree tree(positions, near);
    const std::vector<Vec3d> directions = fibonacciDirections(kRays);
    parallelFor(rim_vertices.size(), 16, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const std::uint32_t v = rim_vertices[k];
        double seen = 0;
        double all = 0;
        for (const Vec3d& d : directions) {
          const double cosine = normals[v].dot(d);
          if (cosine <= 0.1) continue;
          all += cosine;
          const Vec3d from = positions[v] + 0.004 * normals[v];
          TriangleTree::Sight sight;
          sight.ignore_vertex = v;
          if (!tree.blocks(from, from + kRayLength * d, sight)) seen += cosine;
        }
        openness[v] = all > 0 ? seen / all : 0.0;
      }
    });
  }

  // Points of the contour, joined through the triangles they share; border edges likewise.
  std::vector<Vec3d> points;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
  std::vector<Edge> point_edges;
  std::vector<Edge> edges;
  std::map<Edge, std::uint32_t> crossings;
  for (const Triangle& t : skin) {
    std::uint32_t last = 0;
    int count = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = std::min(t[k], t[(k + 1) % 3]);
      const std::uint32_t b = std::max(t[k], t[(k + 1) % 3]);
      if (a != b) edges.push_back({a, b});
      if (openness[a] < 0 || openness[b] < 0) continue;
      if ((openness[a] < kThreshold) == (openness[b] < kThreshold)) continue;
      const auto [found, fresh] =
          crossings.try_emplace({a, b}, static_cast<std::uint32_t>(points.size()));
      if (fresh) {
        const double share = (kThreshold - openness[a]) / (openness[b] - openness[a]);
        points.push_back(positions[a] + share * (positions[b] - positions[a]));
        point_edges.push_back({a, b});
      }
      if (count++ > 0) links.push_back({last, found->second});
      last = found->second;
    }
  }
  std::sort(edges.begin(), edges.end());
  std::map<std::uint32_t, std::uint32_t> point_of_vertex;
  for (std::size_t first = 0; first < edges.size();) {
    std::size_t last = first;
    while (last < edges.size() && edges[last] == edges[first]) ++last;
    const auto [a, b] = edges[first];
    if (last - first == 1 && inRegion(positions[a]) && inRegion(positions[b])) {
      const auto pointOf = [&](std::uint32_t v) {
        const auto [found, fresh] =
            point_of_vertex.try_emplace(v, static_cast<std::uint32_t>(points.size()));
        if (fresh) {
          points.push_back(positions[v]);
          point_edges.push_back({v, v});
        }
        return found->second;
      };
      const std::uint32_t from = pointOf(a);
      links.push_back({from, pointOf(b)});
    }
    first = last;
  }

  DisjointSets sets(points.size());
  std::vector<std::vector<std::uint32_t>> neighbours(points.size());
  for (const auto& [a, b] : links) {
    sets.unite(a, b);
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> rims;
  for (std::uint32_t i = 0; i < points.size(); ++i) rims[sets.rootOf(i)].push_back(i);

  std::vector<Slit> slits;
  for (const auto& [set, rim] : rims) {
    if (rim.size() < 4) continue;
    std::uint32_t left = rim[0];
    std::uint32_t right = rim[0];
    Slit slit;
    for (const std::uint32_t i : rim) {
      if (points[i].x() > points[left].x()) left = i;
      if (points[i].x() < points[right].x()) right = i;
      slit.centre += points[i] / static_cast<double>(rim.size());
    }
    slit.left = points[left];
    slit.right = points[right];
    slit.length = (slit.left - slit.right).norm();
    if (slit.length < min_length) continue;
    double edge = 0;
    for (const std::uint32_t i : rim)
      for (const std::uint32_t k : neighbours[i])
        edge +=
            (points[i] - points[k]).norm() / static_cast<double>(neighbours[i].size() * rim.size());
    slit.resolution = resolutionOf(slit, edge);
    splitRim(slit, points, point_edges, neighbours, left, right);
    slits.push_back(std::move(slit));
  }
  std::sort(slits.begin(), slits.end(),
            [](const Slit& a, const Slit& b) { return a.length > b.length; });
  return slits;
}

std::vector<signed char> rimSides(std::span<const Vec3d> positions,
                                  std::span<const Triangle> triangles, std::span<const Slit> slits,
                                  double reach) {
  const IndexLists neighbours = vertexNeighbours(triangles, positions.size());
  const auto distances = [&](bool upper) {
    std::vector<double> distance(positions.size(), std::numeric_limits<double>::infinity());
    using Entry = std::pair<double, std::uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    for (const Slit& slit : slits)
      for (const std::uint32_t v : upper ? slit.upper_vertices : slit.lower_vertices)
        if (distance[v] > 0) {
          distance[v] = 0;
          open.push({0.0, v});
        }
    while (!open.empty()) {
      const auto [d, v] = open.top();
      open.pop();
      if (d > distance[v]) continue;
      for (const std::uint32_t w : neighbours[v]) {
        const double further = d + (positions[w] - positions[v]).norm();
        if (further < distance[w] && further < reach) {
          distance[w] = further;
          open.push({further, w});
        }
      }
    }
    return distance;
  };
  const std::vector<double> up = distances(true);
  const std::vector<double> down = distances(false);
  std::vector<signed char> side(positions.size(), 0);
  constexpr double kClear = 0.75;
  for (std::size_t v = 0; v < positions.size(); ++v) {
    if (up[v] < reach && up[v] < kClear * down[v]) side[v] = 1;
    if (down[v] < reach && down[v] < kClear * up[v]) side[v] = -1;
  }
  return side;
}

}  // namespace derm::detail
