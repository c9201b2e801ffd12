#include "volume/region_labels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "derm/mesh/measures.h"

namespace derm::detail {
namespace {

/// Where joints bend a vertex less than this, its label comes from its neighbourhood.
constexpr double kMinBend = 0.02;

/// The joint that a vertex follows most.
std::uint32_t strongest(const ShareRows& weights, std::size_t vertex) {
  const auto shares = weights.sharesOf(vertex);
  if (shares.empty()) return 0;
  const auto max = std::max_element(shares.begin(), shares.end()) - shares.begin();
  return weights.columnsOf(vertex)[static_cast<std::size_t>(max)];
}

double triangleArea(std::span<const Vec3d> x, const Triangle& t) {
  return 0.5 * Vec3d(x[t[1]] - x[t[0]]).cross(Vec3d(x[t[2]] - x[t[0]])).norm();
}

/// Per piece and joint: what lies beyond the joint (S_j > 1/2 in the mean of a triangle's corners).
struct Patches {
  std::vector<double> area, border;  ///< [m^2], [m]
  std::vector<double> piece_area;    ///< [m^2]
};

/// The deepest joint that a triangle lies beyond; all joints above it are the others it lies
/// beyond, since S_j only grows upwards and siblings share what their parent has.
std::uint32_t deepestBeyond(const ShareRows& below, const Triangle& t,
                            std::vector<std::pair<std::uint32_t, double>>& row) {
  row.clear();
  for (const std::uint32_t corner : t)
    for (std::size_t k = 0; k < below.columnsOf(corner).size(); ++k)
      row.emplace_back(below.columnsOf(corner)[k], below.sharesOf(corner)[k]);
  std::sort(row.begin(), row.end());
  std::uint32_t deepest = RegionJoint::kNone;
  for (std::size_t i = 0; i < row.size();) {
    const std::uint32_t joint = row[i].first;
    double sum = 0;
    for (; i < row.size() && row[i].first == joint; ++i) sum += row[i].second;
    if (sum > 1.5) deepest = joint;  // children come after their parents
  }
  return deepest;
}

struct Edge {
  std::uint32_t a, b, triangle;
};

std::vector<Edge> sortedEdges(std::span<const Triangle> triangles) {
  std::vector<Edge> edges;
  edges.reserve(3 * triangles.size());
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = triangles[t][k], b = triangles[t][(k + 1) % 3];
      edges.push_back({std::min(a, b), std::max(a, b), static_cast<std::uint32_t>(t)});
    }
  std::sort(edges.begin(), edges.end(), [](const Edge& l, const Edge& r) {
    return std::tie(l.a, l.b, l.triangle) < std::tie(r.a, r.b, r.triangle);
  });
  return edges;
}

Patches measurePatches(const RestSurface& rest, const ShareRows& below,
                       std::span<const RegionJoint> joints) {
  const std::span<const Triangle> triangles = rest.surface.triangles;
  const std::size_t n = joints.size();
  Patches out{std::vector<double>(rest.pieceCount() * n),
              std::vector<double>(rest.pieceCount() * n), std::vector<double>(rest.pieceCount())};
  std::vector<std::uint32_t> deepest;
  std::vector<std::pair<std::uint32_t, double>> row;
  for (const Triangle& t : triangles) {
    deepest.push_back(deepestBeyond(below, t, row));
    const std::size_t piece = rest.pieceOf(t[0]);
    const double area = triangleArea(rest.positions, t);
    out.piece_area[piece] += area;
    for (std::uint32_t j = deepest.back(); j != RegionJoint::kNone; j = joints[j].parent)
      out.area[piece * n + j] += area;
  }
  const std::vector<Edge> edges = sortedEdges(triangles);
  for (std::size_t e = 0; e + 1 < edges.size(); ++e) {
    if (edges[e].a != edges[e + 1].a || edges[e].b != edges[e + 1].b) continue;
    std::uint32_t left = deepest[edges[e].triangle], right = deepest[edges[e + 1].triangle];
    const std::size_t piece = rest.pieceOf(edges[e].a);
    const double length = (rest.positions[edges[e].a] - rest.positions[edges[e].b]).norm();
    // Up both chains to where they meet: a joint on one of them only has its border here.
    while (left != right) {
      const bool up_left =
          right == RegionJoint::kNone || (left != RegionJoint::kNone && left > right);
      std::uint32_t& higher = up_left ? left : right;
      out.border[piece * n + higher] += length;
      higher = joints[higher].parent;
    }
  }
  return out;
}

/// How many joints lie between a bone and a joint's pivot, which its own bone and the one above it
/// carry: 0 where the pivot moves with the bone.
class PivotDistance {
 public:
  explicit PivotDistance(std::span<const RegionJoint> joints) : joints_(joints) {}
  std::size_t operator()(std::uint32_t bone, std::uint32_t pivot) const {
    const std::size_t own = between(bone, pivot);
    const std::uint32_t above = joints_[pivot].parent;
    return above == RegionJoint::kNone ? own : std::min(own, between(bone, above));
  }

 private:
  /// Steps along the tree. Parents come first, so the later of two is never above the other.
  std::size_t between(std::uint32_t a, std::uint32_t b) const {
    std::size_t steps = 0;
    for (; a != b; ++steps) {
      std::uint32_t& later = b == RegionJoint::kNone || (a != RegionJoint::kNone && a > b) ? a : b;
      later = joints_[later].parent;
    }
    return steps;
  }
  std::span<const RegionJoint> joints_;
};

/// Which labels of a piece have the pivots nearest to a bone. Found when first asked for: many
/// pieces follow few of the bones.
class FittingLabels {
 public:
  FittingLabels(const RestSurface& rest, std::span<const RegionJoint> joints,
                std::span<const std::uint32_t> label)
      : distance_(joints), used_(rest.pieceCount()) {
    for (std::size_t v = 0; v < rest.size(); ++v)
      if (label[v] != RegionJoint::kNone) used_[rest.pieceOf(v)].insert(label[v]);
  }
  bool operator()(std::uint32_t piece, std::uint32_t bone, std::uint32_t label) {
    const auto [at, is_new] = nearest_.try_emplace(std::pair(piece, bone));
    if (is_new) {
      std::size_t min = std::numeric_limits<std::size_t>::max();
      for (const std::uint32_t j : used_[piece]) min = std::min(min, distance_(bone, j));
      for (const std::uint32_t j : used_[piece])
        if (distance_(bone, j) == min) at->second.insert(j);
    }
    return at->second.contains(label);
  }

 private:
  PivotDistance distance_;
  std::vector<std::set<std::uint32_t>> used_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> nearest_;
};

/// Labels of vertices that nothing bends: that of the nearest one along the surface's edges, among
/// the joints whose pivots move with the vertex's bone or nearly so. An anchor that moves on its
/// own would sweep volume from region to region.
void spreadLabels(const RestSurface& rest, const ShareRows& weights,
                  std::span<const RegionJoint> joints, bool only_fitting,
                  std::vector<std::uint32_t>& label) {
  using Step = std::tuple<double, std::uint32_t, std::uint32_t>;  // distance, label, vertex
  std::priority_queue<Step, std::vector<Step>, std::greater<>> open;
  std::vector<double> distance(rest.size(), std::numeric_limits<double>::infinity());
  for (std::uint32_t v = 0; v < rest.size(); ++v)
    if (label[v] != RegionJoint::kNone) {
      distance[v] = 0;
      open.emplace(0.0, label[v], v);
    }
  FittingLabels fits(rest, joints, label);
  while (!open.empty()) {
    const auto [d, from, v] = open.top();
    open.pop();
    if (d > distance[v] || from != label[v]) continue;
    for (const std::uint32_t n : rest.neighbours[v]) {
      const double to = d + (rest.positions[n] - rest.positions[v]).norm();
      if (to > distance[n] || (to == distance[n] && from >= label[n])) continue;
      if (only_fitting && !fits(rest.pieceOf(n), strongest(weights, n), from)) continue;
      distance[n] = to;
      label[n] = from;
      open.emplace(to, from, n);
    }
  }
}

/// Per piece the joint that carries most of its vertices' weights.
std::vector<std::uint32_t> strongestJoints(const RestSurface& rest, const ShareRows& weights,
                                           std::size_t joint_count) {
  std::vector<double> sums(rest.pieceCount() * joint_count);
  for (std::size_t v = 0; v < rest.size(); ++v)
    for (std::size_t k = 0; k < weights.columnsOf(v).size(); ++k)
      sums[rest.pieceOf(v) * joint_count + weights.columnsOf(v)[k]] += weights.sharesOf(v)[k];
  std::vector<std::uint32_t> out(rest.pieceCount(), 0);
  for (std::size_t p = 0; p < out.size(); ++p) {
    const auto first = sums.begin() + static_cast<std::ptrdiff_t>(p * joint_count);
    out[p] = static_cast<std::uint32_t>(
        std::max_element(first, first + static_cast<std::ptrdiff_t>(joint_count)) - first);
  }
  return out;
}

}  // namespace

RegionLabels labelVertices(const RestSurface& rest, const ShareRows& below,
                           const ShareRows& weights, std::span<const RegionJoint> joints,
                           const RegionsDesc& desc) {
  const std::size_t n = joints.size();
  const Patches patches = measurePatches(rest, below, joints);
  RegionLabels out{.label = std::vector<std::uint32_t>(rest.size(), RegionJoint::kNone),
                   .bend = std::vector<double>(rest.size()),
                   .counts = std::vector<char>(rest.pieceCount() * n),
                   .labelled = std::vector<char>(rest.pieceCount())};
  for (std::size_t p = 0; p < rest.pieceCount(); ++p)
    for (std::size_t j = 0; j < n; ++j) {
      const double area = patches.area[p * n + j], border = patches.border[p * n + j];
      out.counts[p * n + j] = border > 0 && area >= desc.min_limb_ratio * border * border &&
                              area >= desc.min_area_share * patches.piece_area[p];
    }
  for (std::size_t v = 0; v < rest.size(); ++v) {
    double max = 0;
    for (std::size_t k = 0; k < below.columnsOf(v).size(); ++k) {
      const std::uint32_t j = below.columnsOf(v)[k];
      const double s = below.sharesOf(v)[k];
      if (out.counts[rest.pieceOf(v) * n + j] == 0 || !(s * (1 - s) > max)) continue;
      max = s * (1 - s);
      out.label[v] = j;
    }
    out.bend[v] = 4 * max;
    if (max < kMinBend)
      out.label[v] = RegionJoint::kNone;
    else
      out.labelled[rest.pieceOf(v)] = 1;
  }
  for (const bool only_fitting : {true, false})
    spreadLabels(rest, weights, joints, only_fitting, out.label);
  const std::vector<std::uint32_t> carriers = strongestJoints(rest, weights, n);
  for (std::size_t v = 0; v < rest.size(); ++v)
    if (out.label[v] == RegionJoint::kNone) out.label[v] = carriers[rest.pieceOf(v)];
  return out;
}

}  // namespace derm::detail
