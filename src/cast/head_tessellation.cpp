#include "cast/head_tessellation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include "derm/base/disjoint_sets.h"

namespace derm::detail::cast {
namespace {

using Edge = std::pair<std::uint32_t, std::uint32_t>;

/// Rim edges by their first vertex, in the triangles' own direction.
std::multimap<std::uint32_t, std::uint32_t> rimEdges(const std::vector<Triangle>& triangles,
                                                     const std::vector<bool>& dropped) {
  std::set<Edge> edges;
  for (std::size_t t = 0; t < triangles.size(); ++t)
    if (!dropped[t])
      for (std::size_t i = 0; i < 3; ++i) edges.emplace(triangles[t][i], triangles[t][(i + 1) % 3]);
  std::multimap<std::uint32_t, std::uint32_t> rim;
  for (const Edge& e : edges)
    if (!edges.count({e.second, e.first})) rim.emplace(e.first, e.second);
  return rim;
}

/// Only the largest group of dropped triangles that touch each other stays dropped.
void keepLargestHole(const std::vector<Triangle>& triangles, std::vector<bool>& dropped) {
  std::size_t vertices = 0;
  for (const Triangle& t : triangles)
    for (const std::uint32_t v : t) vertices = std::max<std::size_t>(vertices, v + 1);
  DisjointSets sets(vertices);
  for (std::size_t t = 0; t < triangles.size(); ++t)
    if (dropped[t])
      for (std::size_t i = 1; i < 3; ++i) sets.unite(triangles[t][0], triangles[t][i]);
  std::map<std::uint32_t, std::size_t> size;
  for (std::size_t t = 0; t < triangles.size(); ++t)
    if (dropped[t]) ++size[sets.rootOf(triangles[t][0])];
  std::uint32_t largest = 0;
  std::size_t most = 0;
  for (const auto& [root, count] : size)
    if (count > most) std::tie(largest, most) = std::pair(root, count);
  for (std::size_t t = 0; t < triangles.size(); ++t)
    if (dropped[t] && sets.rootOf(triangles[t][0]) != largest) dropped[t] = false;
}

/// Where kept triangles around a vertex are in several fans, drops all but the largest. True if
/// there were any.
bool dropPinchedFans(const std::vector<Triangle>& triangles,
                     const std::vector<std::vector<std::uint32_t>>& around,
                     std::vector<bool>& dropped) {
  bool changed = false;
  for (const std::vector<std::uint32_t>& ring : around) {
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t t : ring)
      if (!dropped[t]) kept.push_back(t);
    if (kept.size() == ring.size()) continue;
    DisjointSets fans(kept.size());
    for (std::uint32_t i = 0; i < kept.size(); ++i)
      for (std::uint32_t k = 0; k < i; ++k) {
        std::size_t shared = 0;
        for (const std::uint32_t v : triangles[kept[i]])
          shared +=
              std::size_t(std::count(triangles[kept[k]].begin(), triangles[kept[k]].end(), v));
        if (shared == 2) fans.unite(i, k);
      }
    std::map<std::uint32_t, std::size_t> size;
    for (std::uint32_t i = 0; i < kept.size(); ++i) ++size[fans.rootOf(i)];
    if (size.size() < 2) continue;
    const std::uint32_t largest =
        std::max_element(size.begin(), size.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->first;
    for (std::uint32_t i = 0; i < kept.size(); ++i)
      if (fans.rootOf(i) != largest) dropped[kept[i]] = changed = true;
  }
  return changed;
}

/// Drops triangles with all corners on the rim: they would be flat, or turned over, once the rim
/// lies on one line. True if there were any.
bool dropRimTriangles(const std::vector<Triangle>& triangles, std::vector<bool>& dropped) {
  const auto rim = rimEdges(triangles, dropped);
  bool changed = false;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const Triangle& c = triangles[t];
    if (dropped[t] || !rim.count(c[0]) || !rim.count(c[1]) || !rim.count(c[2])) continue;
    dropped[t] = changed = true;
  }
  return changed;
}

/// The rim as one loop of vertices; empty where it is none or several.
std::vector<std::uint32_t> rimLoop(const std::vector<Triangle>& triangles,
                                   const std::vector<bool>& dropped) {
  const auto rim = rimEdges(triangles, dropped);
  std::vector<std::uint32_t> loop;
  if (rim.empty()) return loop;
  loop.push_back(rim.begin()->first);
  while (loop.size() <= rim.size()) {
    if (rim.count(loop.back()) != 1) return {};
    const std::uint32_t next = rim.find(loop.back())->second;
    if (next == loop.front()) break;
    loop.push_back(next);
  }
  return loop.size() == rim.size() ? loop : std::vector<std::uint32_t>{};
}

/// Evens out the triangles around a rim that was moved: vertices up to three edges away go towards
/// the mean of their neighbours, on the surface.
void evenOut(std::vector<Vec3d>& positions, const std::vector<Triangle>& triangles,
             const std::vector<bool>& dropped, const std::vector<std::uint32_t>& rim,
             const std::function<Vec3d(double, double)>& on_front) {
  std::vector<std::set<std::uint32_t>> neighbours(positions.size());
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t i = 0; !dropped[t] && i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k)
        if (i != k) neighbours[triangles[t][i]].insert(triangles[t][k]);
  std::set<std::uint32_t> near(rim.begin(), rim.end());
  for (int ring = 0; ring < 3; ++ring)
    for (const std::uint32_t v : std::vector(near.begin(), near.end()))
      near.insert(neighbours[v].begin(), neighbours[v].end());
  for (const std::uint32_t v : rim) near.erase(v);
  for (int round = 0; round < 40; ++round)
    for (const std::uint32_t v : near) {
      Vec3d mean = Vec3d::Zero();
      for (const std::uint32_t n : neighbours[v]) mean += positions[n];
      mean /= static_cast<double>(neighbours[v].size());
      positions[v] = on_front(mean.x(), mean.y());
    }
}

/// Moves the rim onto the ellipse: its outermost vertices to the corners, both lips between them by
/// their places, a mix of x and of length along the rim.
void moveOntoEllipse(std::vector<Vec3d>& positions, const std::vector<std::uint32_t>& loop,
                     const SlitEllipse& slit, double by_length,
                     const std::function<Vec3d(double, double)>& on_front) {
  const std::vector<Vec3d> rest = positions;
  const auto byX = [&](std::uint32_t a, std::uint32_t b) { return rest[a].x() < rest[b].x(); };
  const auto left =
      static_cast<std::size_t>(std::min_element(loop.begin(), loop.end(), byX) - loop.begin());
  const auto right =
      static_cast<std::size_t>(std::max_element(loop.begin(), loop.end(), byX) - loop.begin());
  const auto place = [&](std::size_t from, std::size_t to) {
    std::vector<std::uint32_t> lip;
    for (std::size_t i = from; i != to; i = (i + 1) % loop.size()) lip.push_back(loop[i]);
    lip.push_back(loop[to]);
    std::vector<double> along = {0};
    for (std::size_t i = 1; i < lip.size(); ++i)
      along.push_back(along.back() + (rest[lip[i]] - rest[lip[i - 1]]).norm());
    // A hole's rim runs clockwise seen from the front: to larger x along the upper lip.
    const double side = from == left ? 1 : -1;
    const double first = rest[lip.front()].x(), width = rest[lip.back()].x() - first;
    for (std::size_t i = 0; i + 1 < lip.size(); ++i) {
      const double mixed = (1 - by_length) * (rest[lip[i]].x() - first) / width +
                           by_length * along[i] / along.back();
      const double share = 2 * mixed - 1;
      positions[lip[i]] =
          on_front(side * share * slit.half_width,
                   slit.y + side * slit.half_height * std::sqrt(std::max(0.0, 1 - share * share)));
    }
  };
  place(left, right);
  place(right, left);
}

/// Triangles around the slit that do not face the front.
std::size_t turnedOver(const std::vector<Vec3d>& positions, const std::vector<Triangle>& triangles,
                       const std::vector<bool>& dropped, const SlitEllipse& slit) {
  std::size_t count = 0;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    if (dropped[t]) continue;
    const Vec3d &a = positions[triangles[t][0]], &b = positions[triangles[t][1]],
                &c = positions[triangles[t][2]];
    if (a.z() < 0 || std::abs(a.x()) > 1.3 * slit.half_width ||
        std::abs(a.y() - slit.y) > 10 * slit.half_height)
      continue;
    count += (b.x() - a.x()) * (c.y() - a.y()) - (c.x() - a.x()) * (b.y() - a.y()) <= 0;
  }
  return count;
}

void dropUnused(std::vector<Vec3d>& positions, std::vector<Triangle>& triangles,
                const std::vector<bool>& dropped) {
  std::vector<Triangle> kept;
  for (std::size_t t = 0; t < triangles.size(); ++t)
    if (!dropped[t]) kept.push_back(triangles[t]);
  std::vector<bool> used(positions.size(), false);
  for (const Triangle& t : kept)
    for (const std::uint32_t v : t) used[v] = true;
  std::vector<std::uint32_t> renamed(positions.size(), 0);
  std::uint32_t n = 0;
  for (std::size_t v = 0; v < positions.size(); ++v) {
    if (!used[v]) continue;
    renamed[v] = n;
    positions[n++] = positions[v];
  }
  positions.resize(n);
  for (Triangle& t : kept)
    for (std::uint32_t& v : t) v = renamed[v];
  triangles = std::move(kept);
}

}  // namespace

SphereMesh octahedronMesh(int n) {
  SphereMesh out;
  std::map<std::array<int, 3>, std::uint32_t> at;
  const auto vertex = [&](int x, int y, int z) {
    const auto [found, added] =
        at.emplace(std::array{x, y, z}, static_cast<std::uint32_t>(out.directions.size()));
    if (added) out.directions.push_back(Vec3d(x, y, z).normalized());
    return found->second;
  };
  for (const int sx : {1, -1})
    for (const int sy : {1, -1})
      for (const int sz : {1, -1}) {
        const auto corner = [&](int i, int k) { return vertex(sx * i, sy * k, sz * (n - i - k)); };
        const auto add = [&](Triangle t) {
          if (sx * sy * sz < 0) std::swap(t[1], t[2]);
          out.triangles.push_back(t);
        };
        for (int i = 0; i < n; ++i)
          for (int k = 0; k < n - i; ++k) {
            add({corner(i, k), corner(i + 1, k), corner(i, k + 1)});
            if (i + k < n - 1) add({corner(i + 1, k), corner(i + 1, k + 1), corner(i, k + 1)});
          }
      }
  return out;
}

SphereMesh latLongMesh(int rows, int columns) {
  SphereMesh out;
  out.directions.push_back(Vec3d::UnitY());
  for (int r = 1; r < rows; ++r) {
    const double latitude = std::numbers::pi * r / rows;
    for (int k = 0; k < columns; ++k) {
      const double angle = 2 * std::numbers::pi * k / columns;
      out.directions.emplace_back(std::sin(latitude) * std::sin(angle), std::cos(latitude),
                                  std::sin(latitude) * std::cos(angle));
    }
  }
  out.directions.push_back(-Vec3d::UnitY());
  const auto last = static_cast<std::uint32_t>(out.directions.size() - 1);
  const auto at = [&](int r, int k) {
    return static_cast<std::uint32_t>(1 + (r - 1) * columns + k % columns);
  };
  for (int k = 0; k < columns; ++k) {
    out.triangles.push_back({0, at(1, k), at(1, k + 1)});
    for (int r = 1; r < rows - 1; ++r) {
      out.triangles.push_back({at(r, k), at(r + 1, k), at(r + 1, k + 1)});
      out.triangles.push_back({at(r, k), at(r + 1, k + 1), at(r, k + 1)});
    }
    out.triangles.push_back({at(rows - 1, k), last, at(rows - 1, k + 1)});
  }
  return out;
}

bool cutSlit(std::vector<Vec3d>& positions, std::vector<Triangle>& triangles,
             const SlitEllipse& slit, const std::function<Vec3d(double, double)>& on_front) {
  std::vector<bool> dropped(triangles.size(), false);
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const Triangle& c = triangles[t];
    const Vec3d middle = (positions[c[0]] + positions[c[1]] + positions[c[2]]) / 3;
    const double x = middle.x() / slit.half_width, y = (middle.y() - slit.y) / slit.half_height;
    dropped[t] = middle.z() > 0 && x * x + y * y < 1;
  }
  std::vector<std::vector<std::uint32_t>> around(positions.size());
  for (std::uint32_t t = 0; t < triangles.size(); ++t)
    for (const std::uint32_t v : triangles[t]) around[v].push_back(t);
  keepLargestHole(triangles, dropped);
  while (dropPinchedFans(triangles, around, dropped) || dropRimTriangles(triangles, dropped)) {
  }
  const std::vector<std::uint32_t> loop = rimLoop(triangles, dropped);
  if (loop.size() < 4) return false;

  // Places along the lips are kept by x, but near a corner the rim may run straight up, where only
  // its length tells vertices apart. Which mix turns no triangle over depends on the mesh: try.
  std::vector<Vec3d> best;
  std::size_t fewest = triangles.size() + 1;
  for (const double by_length : {0.3, 0.0, 0.15, 0.45, 0.6, 0.8}) {
    std::vector<Vec3d> tried = positions;
    moveOntoEllipse(tried, loop, slit, by_length, on_front);
    evenOut(tried, triangles, dropped, loop, on_front);
    const std::size_t turned = turnedOver(tried, triangles, dropped, slit);
    if (turned >= fewest) continue;
    fewest = turned;
    best = std::move(tried);
    if (turned == 0) break;
  }
  positions = std::move(best);
  dropUnused(positions, triangles, dropped);
  return true;
}

}  // namespace derm::detail::cast
