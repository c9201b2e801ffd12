#include "cast/head/subdivide.h"

#include <algorithm>
#include <map>
#include <utility>

namespace derm::detail::cast {
namespace {

using Edge = std::pair<std::uint32_t, std::uint32_t>;  // smaller number first

Edge edgeOf(std::uint32_t a, std::uint32_t b) { return {std::min(a, b), std::max(a, b)}; }

}  // namespace

QuadSkin subdivided(const HeadCage& cage) {
  const std::size_t n = cage.positions.size(), faces = cage.quads.size();
  std::map<Edge, std::uint32_t> edge_ids;
  for (const Quad& q : cage.quads)
    for (std::size_t i = 0; i < 4; ++i) edge_ids.emplace(edgeOf(q[i], q[(i + 1) % 4]), 0u);
  std::vector<Edge> edges;
  for (auto& [edge, id] : edge_ids) {
    id = static_cast<std::uint32_t>(edges.size());
    edges.push_back(edge);
  }
  const auto edgeId = [&](std::uint32_t a, std::uint32_t b) { return edge_ids.at(edgeOf(a, b)); };

  std::vector<Vec3d> face_points(faces), edge_points(edges.size(), Vec3d::Zero());
  std::vector<int> edge_faces(edges.size(), 0), valence(n, 0), vertex_faces(n, 0);
  std::vector<Vec3d> sum_faces(n, Vec3d::Zero()), sum_edges(n, Vec3d::Zero()),
      sum_rim(n, Vec3d::Zero());
  std::vector<int> rim_edges(n, 0);
  for (std::size_t f = 0; f < faces; ++f) {
    const Quad& q = cage.quads[f];
    face_points[f] = (cage.positions[q[0]] + cage.positions[q[1]] + cage.positions[q[2]] +
                      cage.positions[q[3]]) /
                     4;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t e = edgeId(q[i], q[(i + 1) % 4]);
      edge_points[e] += face_points[f];
      ++edge_faces[e];
      sum_faces[q[i]] += face_points[f];
      ++vertex_faces[q[i]];
    }
  }
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto [a, b] = edges[e];
    const Vec3d middle = (cage.positions[a] + cage.positions[b]) / 2;
    const bool rim = edge_faces[e] == 1;
    edge_points[e] = rim ? middle : Vec3d((2 * middle + edge_points[e]) / (2 + edge_faces[e]));
    for (const std::uint32_t v : {a, b}) {
      sum_edges[v] += middle;
      ++valence[v];
      if (!rim) continue;
      sum_rim[v] += middle;
      ++rim_edges[v];
    }
  }
  QuadSkin out;
  for (std::size_t v = 0; v < n; ++v) {
    const double k = valence[v];
    const Vec3d& p = cage.positions[v];
    out.positions.push_back(
        rim_edges[v] == 2
            ? Vec3d(p / 2 + sum_rim[v] / 4)
            : Vec3d((sum_faces[v] / vertex_faces[v] + 2 * sum_edges[v] / k + (k - 3) * p) / k));
  }
  out.positions.insert(out.positions.end(), edge_points.begin(), edge_points.end());
  out.positions.insert(out.positions.end(), face_points.begin(), face_points.end());

  out.labels = cage.labels;
  out.mirror = cage.mirror;
  const auto edge_at = [&](std::uint32_t e) { return static_cast<std::uint32_t>(n + e); };
  const auto face_at = [&](std::size_t f) {
    return static_cast<std::uint32_t>(n + edges.size() + f);
  };
  for (const auto& [a, b] : edges) {
    out.labels.push_back(mean(std::array{cage.labels[a], cage.labels[b]}));
    out.mirror.push_back(edge_at(edgeId(cage.mirror[a], cage.mirror[b])));
  }
  std::map<Quad, std::uint32_t> face_of;
  const auto sorted = [](Quad q) {
    std::sort(q.begin(), q.end());
    return q;
  };
  for (std::size_t f = 0; f < faces; ++f) face_of[sorted(cage.quads[f])] = face_at(f);
  for (std::size_t f = 0; f < faces; ++f) {
    const Quad& q = cage.quads[f];
    out.labels.push_back(mean(
        std::array{cage.labels[q[0]], cage.labels[q[1]], cage.labels[q[2]], cage.labels[q[3]]}));
    out.mirror.push_back(face_of.at(
        sorted({cage.mirror[q[0]], cage.mirror[q[1]], cage.mirror[q[2]], cage.mirror[q[3]]})));
    for (std::size_t i = 0; i < 4; ++i) {
      out.quads.push_back({q[i], edge_at(edgeId(q[i], q[(i + 1) % 4])), face_at(f),
                           edge_at(edgeId(q[(i + 3) % 4], q[i]))});
      out.parts.push_back(cage.parts[f]);
    }
  }
  return out;
}

}  // namespace derm::detail::cast
