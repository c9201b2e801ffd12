#include "cast/remesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "derm/base/parallel.h"

#include "cast/work_mesh.h"

namespace derm::detail::cast {
namespace {

using Index = WorkMesh::Index;

class Remesher {
 public:
  Remesher(const Surface& fine, const Sculpt& sculpt, std::span<const Region> regions,
           const RemeshDesc& desc)
      : mesh_(fine), sculpt_(sculpt), regions_(regions), desc_(desc) {
    step_ = 0.02 * desc.base_edge;
  }

  Surface run() {
    measureWanted();
    scale_ = budgetScale();
    thinOut();
    for (int pass = 0; pass < desc_.passes; ++pass) {
      findLines();
      splitLong();
      collapseShort(true);
      findLines();
      for (int i = 0; i < 2; ++i) {
        flipForValence();
        relax();
      }
      // What the estimate from areas missed, measured on the result so far.
      scale_ *= std::sqrt(static_cast<double>(mesh_.triangleCount()) /
                          static_cast<double>(desc_.triangles));
    }
    meetBudget();
    findLines();
    for (int i = 0; i < 6; ++i) {
      flipForAngles();
      relax();
    }
    flipForAngles();
    return mesh_.compacted();
  }

 private:
  /// Before scaling to the budget.
  double wantedEdgeAt(const Vec3d& p) const {
    const Vec3d q(std::abs(p.x()), p.y(), p.z());
    double edge = desc_.base_edge;
    for (const DetailSpot& s : desc_.spots) {
      const double away = roundConeDistance(q, s.a, s.b);
      if (away >= s.falloff) continue;
      edge = std::min(edge, s.edge + smoothStep(0.0, s.falloff, away) * (desc_.base_edge - s.edge));
    }
    return edge;
  }
  double wantedEdge(Index a, Index b) const { return scale_ * std::min(wanted_[a], wanted_[b]); }
  void measureWanted() {
    wanted_.resize(mesh_.vertexCapacity());
    parallelFor(wanted_.size(), 512, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v) wanted_[v] = wantedEdgeAt(mesh_.positions[v]);
    });
  }
  double length(Index a, Index b) const { return (mesh_.positions[a] - mesh_.positions[b]).norm(); }

  /// The factor on all edge lengths at which equilateral triangles of the wanted sizes tile the
  /// surface with the budget.
  double budgetScale() {
    double count = 0;
    const Surface now = mesh_.compacted();  // nothing has died yet: its indices are ours
    for (const Triangle& t : now.triangles) {
      const Vec3d &a = now.positions[t[0]], &b = now.positions[t[1]], &c = now.positions[t[2]];
      const double area = 0.5 * Vec3d(b - a).cross(Vec3d(c - a)).norm();
      const double edge = (wanted_[t[0]] + wanted_[t[1]] + wanted_[t[2]]) / 3.0;
      count += area / (std::sqrt(3.0) / 4.0 * edge * edge);
    }
    return std::sqrt(count / static_cast<double>(desc_.triangles));
  }

  /// What a vertex or an edge may not leave.
  struct Lines {
    int edges = 0;     // lines' edges that meet here, at most 3
    int outline = -1;  // of this region, -1 = none
    bool cut = false;  // x = 0
    bool any() const { return edges > 0; }
    bool corner() const { return edges > 0 && edges != 2; }  // an end or a crossing
  };

  Lines linesAlong(const WorkMesh::Sides& s) const {
    Lines lines;
    if (!mesh_.isFeature(s)) return lines;
    lines.edges = 2;
    if (s.boundary()) {
      lines.cut = desc_.half;
      return lines;
    }
    // Later regions were cut into earlier ones, so the line is the later one's outline.
    for (std::size_t r = 0; r < regions_.size(); ++r)
      if (regions_[r].material == mesh_.material(s.left) ||
          regions_[r].material == mesh_.material(s.right))
        lines.outline = static_cast<int>(r);
    return lines;
  }

  void findLines() {
    lines_.assign(mesh_.vertexCapacity(), {});
    for (const auto& [a, b] : mesh_.edges()) {
      const Lines along = linesAlong(mesh_.sides(a, b));
      if (!along.any()) continue;
      for (const Index v : {a, b}) {
        lines_[v].edges = std::min(lines_[v].edges + 1, 3);
        lines_[v].outline = std::max(lines_[v].outline, along.outline);
        lines_[v].cut |= along.cut;
      }
    }
  }

  /// Back onto the surface, and onto the lines that the vertex belongs to.
  Vec3d projected(Vec3d p, const Lines& lines) const {
    const int rounds = lines.outline >= 0 ? 4 : 1;
    for (int i = 0; i < rounds; ++i) {
      if (lines.outline >= 0)
        p = regions_[static_cast<std::size_t>(lines.outline)].inside.projected(p, step_);
      p = sculpt_.projected(p, step_);
      if (lines.cut) p.x() = 0;
    }
    return p;
  }
  Vec3d middleOf(Index a, Index b, const Lines& along) const {
    return projected(0.5 * (mesh_.positions[a] + mesh_.positions[b]), along);
  }

  void split(Index a, Index b) {
    const Lines along = linesAlong(mesh_.sides(a, b));
    const Vec3d at = middleOf(a, b, along);
    mesh_.split(a, b, at);
    lines_.push_back(along);
    wanted_.push_back(wantedEdgeAt(at));
  }

  void splitLong() {
    for (const auto& [a, b] : mesh_.edges())
      if (length(a, b) > 4.0 / 3.0 * wantedEdge(a, b)) split(a, b);
  }

  /// Collapses a -> b or b -> a or, if wanted, to the middle, whatever lines allow. False if
  /// nothing is.
  bool tryCollapse(Index a, Index b, bool to_middle = true) {
    const WorkMesh::Sides s = mesh_.sides(a, b);
    if (!s.exists()) return false;
    const Lines along = linesAlong(s);
    if (lines_[a].any() && lines_[b].any() && !along.any()) return false;
    if (lines_[a].corner() && lines_[b].corner()) return false;
    const bool a_stays = lines_[a].corner() || (lines_[a].any() && !lines_[b].any());
    const bool b_stays = lines_[b].corner() || (lines_[b].any() && !lines_[a].any());
    if (a_stays) std::swap(a, b);
    Vec3d at = mesh_.positions[b];
    if (to_middle && !a_stays && !b_stays) at = middleOf(a, b, along);
    if (!mesh_.canCollapse(a, b, at)) return false;
    mesh_.neighbours(a, scratch_);
    for (const Index v : scratch_)
      if ((mesh_.positions[v] - at).norm() > 4.0 / 3.0 * wantedEdge(b, v)) return false;
    mesh_.collapse(a, b, at);
    wanted_[b] = wantedEdgeAt(at);
    return true;
  }

  std::size_t collapseShort(bool to_middle) {
    std::size_t done = 0;
    for (const auto& [a, b] : mesh_.edges())
      if (mesh_.alive(a) && mesh_.alive(b) && length(a, b) < 0.8 * wantedEdge(a, b))
        done += tryCollapse(a, b, to_middle);
    return done;
  }

  /// The grid's triangles are far smaller than wanted: a few sweeps before anything is smoothed,
  /// onto vertices that are there already, since projecting is what costs time.
  void thinOut() {
    for (int sweep = 0; sweep < 12; ++sweep) {
      findLines();
      if (collapseShort(false) * 50 < mesh_.triangleCount()) return;
    }
  }

  struct Quad {
    WorkMesh::Sides sides;
    Index a, b;
  };
  /// The two triangles of an edge that may be flipped without folding the surface.
  bool flippable(Index a, Index b, Quad& quad) const {
    const WorkMesh::Sides s = mesh_.sides(a, b);
    if (!s.exists() || mesh_.isFeature(s) || mesh_.connected(s.left_corner, s.right_corner))
      return false;
    const Vec3d &pa = mesh_.positions[a], &pb = mesh_.positions[b],
                &pc = mesh_.positions[s.left_corner], &pd = mesh_.positions[s.right_corner];
    const Vec3d n =
        (mesh_.normal(s.left).normalized() + mesh_.normal(s.right).normalized()).normalized();
    const Vec3d first = Vec3d(pa - pc).cross(Vec3d(pd - pc));
    const Vec3d second = Vec3d(pb - pd).cross(Vec3d(pc - pd));
    quad = {s, a, b};
    return first.dot(n) > 0.7 * first.norm() && second.dot(n) > 0.7 * second.norm();
  }

  int valenceError(Index v, int change) const {
    const int wanted = lines_[v].cut ? 3 : 6;  // triangles around; half a fan on the cut
    const int e = static_cast<int>(mesh_.trianglesAt(v).size()) + change - wanted;
    return e * e;
  }

  void flipForValence() {
    Quad q;
    for (const auto& [a, b] : mesh_.edges()) {
      if (!flippable(a, b, q)) continue;
      const Index c = q.sides.left_corner, d = q.sides.right_corner;
      const int before =
          valenceError(a, 0) + valenceError(b, 0) + valenceError(c, 0) + valenceError(d, 0);
      const int after =
          valenceError(a, -1) + valenceError(b, -1) + valenceError(c, 1) + valenceError(d, 1);
      if (after < before) mesh_.flip(q.sides, a, b);
    }
  }

  /// The cosine of its smallest angle.
  double sharpness(Index a, Index b, Index c) const {
    const std::array<Vec3d, 3> p = {mesh_.positions[a], mesh_.positions[b], mesh_.positions[c]};
    double largest = -1;
    for (int i = 0; i < 3; ++i) {
      const Vec3d u = (p[(i + 1) % 3] - p[i]).normalized(),
                  v = (p[(i + 2) % 3] - p[i]).normalized();
      largest = std::max(largest, u.dot(v));
    }
    return largest;
  }

  void flipForAngles() {
    Quad q;
    for (const auto& [a, b] : mesh_.edges()) {
      if (!flippable(a, b, q)) continue;
      const Index c = q.sides.left_corner, d = q.sides.right_corner;
      const double before = std::max(sharpness(a, b, c), sharpness(b, a, d));
      const double after = std::max(sharpness(c, a, d), sharpness(d, b, c));
      if (after < before - 1e-9) mesh_.flip(q.sides, a, b);
    }
  }

  /// Every vertex towards the middle of its neighbours, within the surface or along its line.
  void relax() {
    std::vector<Vec3d> next = mesh_.positions;
    parallelFor(next.size(), 128, [&](std::size_t begin, std::size_t end) {
      for (auto v = static_cast<Index>(begin); v < end; ++v) {
        if (!mesh_.alive(v) || lines_[v].corner()) continue;
        const Vec3d move = lines_[v].any() ? moveAlongLine(v) : moveWithinSurface(v);
        next[v] = projected(Vec3d(mesh_.positions[v] + 0.7 * move), lines_[v]);
      }
    });
    mesh_.positions = std::move(next);
    measureWanted();
  }

  Vec3d moveWithinSurface(Index v) const {
    const Vec3d& p = mesh_.positions[v];
    Vec3d n = sculpt_.gradient(p, step_);
    if (const double length = n.norm(); length > 0) n /= length;
    const Vec3d move = fanMiddle(v) - p;
    return move - n.dot(move) * n;
  }

  /// Only along the tangent: a step to the very middle would shrink small outlines away.
  Vec3d moveAlongLine(Index v) const {
    std::vector<Index> near;
    mesh_.neighbours(v, near);
    std::array<Vec3d, 2> end;
    std::size_t count = 0;
    for (const Index u : near)
      if (count < 2 && mesh_.isFeature(mesh_.sides(v, u))) end[count++] = mesh_.positions[u];
    if (count < 2) return Vec3d::Zero();
    const Vec3d chord = end[1] - end[0];
    const Vec3d move = 0.5 * (end[0] + end[1]) - mesh_.positions[v];
    const double l2 = chord.squaredNorm();
    return l2 > 0 ? Vec3d(chord.dot(move) / l2 * chord) : Vec3d(Vec3d::Zero());
  }

  /// Triangles pull by how much larger they are than wanted there.
  Vec3d fanMiddle(Index v) const {
    Vec3d sum = Vec3d::Zero();
    double total = 0;
    for (const Index t : mesh_.trianglesAt(v)) {
      const Triangle& f = mesh_.triangle(t);
      const Vec3d centre =
          (mesh_.positions[f[0]] + mesh_.positions[f[1]] + mesh_.positions[f[2]]) / 3.0;
      const double edge = wanted_[f[0]] + wanted_[f[1]] + wanted_[f[2]];
      const double pull = mesh_.normal(t).norm() / (edge * edge);
      sum += pull * centre;
      total += pull;
    }
    return total > 0 ? Vec3d(sum / total) : mesh_.positions[v];
  }

  /// The number of triangles, exactly: an inner edge is worth two, one on the cut is worth one.
  void meetBudget() {
    for (int guard = 0; mesh_.triangleCount() != desc_.triangles && guard < 4000; ++guard) {
      findLines();
      const bool too_many = mesh_.triangleCount() > desc_.triangles;
      const std::size_t off = too_many ? mesh_.triangleCount() - desc_.triangles
                                       : desc_.triangles - mesh_.triangleCount();
      if (!changeByOneEdge(too_many, off % 2 == 1)) return;
    }
  }

  bool changeByOneEdge(bool remove, bool on_boundary) {
    struct Candidate {
      double ratio;
      Index a, b;
    };
    std::vector<Candidate> candidates;
    for (const auto& [a, b] : mesh_.edges())
      if (mesh_.sides(a, b).boundary() == on_boundary)
        candidates.push_back({length(a, b) / wantedEdge(a, b) * (remove ? 1.0 : -1.0), a, b});
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& x, const Candidate& y) { return x.ratio < y.ratio; });
    for (const Candidate& c : candidates) {
      if (remove) {
        if (tryCollapse(c.a, c.b)) return true;
        continue;
      }
      split(c.a, c.b);
      return true;
    }
    return false;
  }

  WorkMesh mesh_;
  const Sculpt& sculpt_;
  std::span<const Region> regions_;
  const RemeshDesc& desc_;
  double step_ = 0.001;
  double scale_ = 1.0;
  std::vector<Lines> lines_;    // one per vertex
  std::vector<double> wanted_;  // one per vertex: edge length before scaling
  std::vector<Index> scratch_;
};

}  // namespace

Surface remeshed(const Surface& fine, const Sculpt& sculpt, std::span<const Region> regions,
                 const RemeshDesc& desc) {
  return Remesher(fine, sculpt, regions, desc).run();
}

}  // namespace derm::detail::cast
