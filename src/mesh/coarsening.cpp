#include "derm/mesh/coarsening.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "derm/base/parallel.h"
#include "derm/mesh/adjacency.h"

namespace derm {
namespace {

constexpr std::uint32_t kNobody = 0xFFFFFFFFu;
constexpr std::size_t kMaxDegree = 24;  ///< vertices with more triangles stay
constexpr double kLeastCosine = 0.5;    ///< between a triangle and what it was
constexpr double kMinShape = 0.08;      ///< 4 sqrt(3) area over the sum of squared edges
constexpr double kMaxBend = 0.2;        ///< of a border's edge, how far a vertex may lie off it
/// Of all candidates of a pass, those that may go: the dear ones are left for when all are dear.
constexpr double kCheapShare = 0.6;

/// The vertices around a vertex, in order; a closed ring's first is not repeated.
struct VertexRing {
  std::array<std::uint32_t, kMaxDegree + 1> vertices{};
  std::size_t count = 0;
  bool closed = false;

  std::span<const std::uint32_t> span() const { return std::span(vertices).first(count); }
};

struct Collapse {
  float cost = 0;
  std::uint32_t vertex = 0;
  std::uint32_t target = 0;

  bool operator<(const Collapse& other) const {
    return cost != other.cost ? cost < other.cost : vertex < other.vertex;
  }
};

class Coarsener {
 public:
  Coarsener(std::span<const Vec3f> positions, std::span<const Triangle> triangles,
            const CoarseningDesc& desc)
      : desc_(desc), count_(positions.size()), positions_(positions) {
    triangles_.reserve(triangles.size());
    for (std::uint32_t t = 0; t < triangles.size(); ++t) {
      const Triangle& c = triangles[t];
      if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) continue;
      triangles_.push_back(c);
      source_.push_back(t);
    }
    gone_.assign(count_, false);
    out_.offsets = {0};
  }

  Result<Coarsening> run(const Progress& progress) {
    const std::size_t first = triangles_.size();
    while (triangles_.size() > desc_.max_triangles) {
      const double done = static_cast<double>(first - triangles_.size()) /
                          static_cast<double>(first - desc_.max_triangles + 1);
      if (!keepGoing(progress, done, "coarse mesh"))
        return Error{ErrorCode::Cancelled, "cancelled", {}};
      if (!pass()) break;
    }
    return finish();
  }

 private:
  Vec3d at(std::uint32_t v) const { return positions_[v].cast<double>(); }

  /// Nothing where the triangles around are no single fan.
  bool ringOf(std::uint32_t v, VertexRing& out) const {
    const std::span<const std::uint32_t> around = fans_[v];
    if (around.size() < 2 || around.size() > kMaxDegree) return false;
    std::array<std::pair<std::uint32_t, std::uint32_t>, kMaxDegree> edges;
    const std::size_t n = around.size();
    for (std::size_t i = 0; i < n; ++i) {
      const Triangle& t = triangles_[around[i]];
      const std::size_t k = t[0] == v ? 0 : t[1] == v ? 1 : 2;
      edges[i] = {t[(k + 1) % 3], t[(k + 2) % 3]};
    }
    // An open fan starts where nothing ends.
    std::size_t start = 0;
    bool closed = true;
    for (std::size_t i = 0; i < n; ++i) {
      bool is_end = false;
      for (std::size_t j = 0; j < n; ++j) {
        is_end = is_end || edges[j].second == edges[i].first;
        if (j != i && edges[j].first == edges[i].first) return false;
      }
      if (is_end) continue;
      if (!closed) return false;
      closed = false;
      start = i;
    }
    out.count = 0;
    out.closed = closed;
    std::size_t edge = start;
    for (std::size_t step = 0; step < n; ++step) {
      out.vertices[out.count++] = edges[edge].first;
      std::size_t next = n;
      for (std::size_t j = 0; j < n; ++j)
        if (edges[j].first == edges[edge].second) next = j;
      if (next == n || (next == start && step + 1 < n)) {
        if (step + 1 < n) return false;  // two fans that meet in the vertex
        out.vertices[out.count++] = edges[edge].second;
        break;
      }
      edge = next;
    }
    return closed ? out.count >= 3 : out.count >= 3 && out.vertices[0] != out.vertices[n];
  }

  /// What it costs to move v to the ring's entry w; infinite where it must not be.
  double costOf(std::uint32_t v, const VertexRing& ring, std::size_t w) const {
    const Vec3d from = at(v), to = at(ring.vertices[w]);
    const std::size_t n = ring.count, fans = ring.closed ? n : n - 1;
    double longest = 0, off = 0;
    for (std::size_t i = 0; i < fans; ++i) {
      const std::size_t j = (i + 1) % n;
      if (i == w || j == w) continue;
      const Vec3d a = at(ring.vertices[i]), b = at(ring.vertices[j]);
      const Vec3d before = (a - from).cross(b - from), after = (a - to).cross(b - to);
      const double size = after.norm();
      const double edges = (a - to).squaredNorm() + (b - to).squaredNorm() + (b - a).squaredNorm();
      if (!(after.dot(before) > kLeastCosine * size * before.norm()) ||
          !(2 * std::numbers::sqrt3 * size > kMinShape * edges))
        return INFINITY;
      longest = std::max({longest, (a - to).squaredNorm(), (b - to).squaredNorm()});
      off = std::max(off, std::abs(after.dot(from - to)) / size);
    }
    if (!ring.closed) {
      // A border keeps its course.
      const Vec3d other = at(ring.vertices[w == 0 ? n - 1 : 0]);
      const Vec3d along = to - other;
      const double length = along.norm();
      if (!(length > 0)) return INFINITY;
      const double bend = (from - other).cross(along).norm() / length;
      if (bend > kMaxBend * length) return INFINITY;
      longest = std::max(longest, length * length);
      off = std::max(off, bend);
    }
    return longest + desc_.deviation_weight * desc_.deviation_weight * off * off;
  }

  /// Whether v may go to w without an edge of three triangles: no vertex but the two beside the
  /// edge is next to both. What collapses of this pass have done to w is in `extra_`.
  bool keepsManifold(const VertexRing& ring, std::size_t w) const {
    const std::size_t n = ring.count;
    const std::uint32_t target = ring.vertices[w];
    const auto isOther = [&](std::uint32_t x) {
      for (std::size_t i = 0; i < n; ++i) {
        if (ring.vertices[i] != x || i == w) continue;
        const bool beside =
            ring.closed ? (i + 1) % n == w || (w + 1) % n == i : i + 1 == w || w + 1 == i;
        return !beside;
      }
      return false;
    };
    const auto clear = [&](std::uint32_t t) {
      for (const std::uint32_t x : triangles_[t])
        if (x != target && isOther(x)) return false;
      return true;
    };
    for (const std::uint32_t t : fans_[target])
      if (!clear(t)) return false;
    for (std::uint32_t e = extra_of_[target]; e != kNobody; e = extra_[e].next)
      if (!clear(extra_[e].triangle)) return false;
    return true;
  }

  bool pass() {
    fans_ = vertexTriangles(triangles_, count_);
    extra_.clear();
    extra_of_.assign(count_, kNobody);
    std::vector<Collapse> candidates(count_);
    parallelFor(count_, 4096, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v)
        candidates[v] = candidateOf(static_cast<std::uint32_t>(v));
    });
    std::erase_if(candidates, [](const Collapse& c) { return c.target == kNobody; });
    const auto cheap =
        candidates.begin() + static_cast<std::ptrdiff_t>(kCheapShare * double(candidates.size()));
    if (cheap == candidates.begin()) return false;
    std::nth_element(candidates.begin(), cheap, candidates.end());
    std::sort(candidates.begin(), cheap);
    candidates.erase(cheap, candidates.end());

    std::vector<bool> stays(count_, false);
    std::size_t left = triangles_.size(), went = 0;
    VertexRing ring;
    for (const Collapse& c : candidates) {
      if (left <= desc_.max_triangles) break;
      if (stays[c.vertex] || !ringOf(c.vertex, ring)) continue;
      const auto w = static_cast<std::size_t>(
          std::find(ring.vertices.begin(), ring.vertices.begin() + ring.count, c.target) -
          ring.vertices.begin());
      if (!keepsManifold(ring, w)) continue;
      collapse(c.vertex, ring, w);
      for (const std::uint32_t v : ring.span()) stays[v] = true;
      left -= ring.closed ? 2 : 1;
      ++went;
    }
    std::size_t live = 0;
    for (std::size_t t = 0; t < triangles_.size(); ++t) {
      const Triangle& c = triangles_[t];
      if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) continue;
      triangles_[live] = c;
      source_[live++] = source_[t];
    }
    triangles_.resize(live);
    source_.resize(live);
    return went > 0;
  }

  /// The cheaper of the two nearest neighbours that it may go to.
  Collapse candidateOf(std::uint32_t v) const {
    Collapse out{0, v, kNobody};
    VertexRing ring;
    if (gone_[v] || !ringOf(v, ring)) return out;
    std::array<std::pair<double, std::size_t>, kMaxDegree + 1> near;
    std::size_t count = 0;
    for (std::size_t i = 0; i < ring.count; ++i)
      if (ring.closed || i == 0 || i + 1 == ring.count)
        near[count++] = {(at(ring.vertices[i]) - at(v)).squaredNorm(), i};
    std::sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count));
    double least = INFINITY;
    int valid = 0;
    for (std::size_t i = 0; i < count && valid < 2; ++i) {
      const double cost = costOf(v, ring, near[i].second);
      if (!std::isfinite(cost)) continue;
      ++valid;
      if (cost < least) {
        least = cost;
        out.target = ring.vertices[near[i].second];
      }
    }
    out.cost = static_cast<float>(least);
    return out;
  }

  void collapse(std::uint32_t v, const VertexRing& ring, std::size_t w) {
    addShares(v, ring);
    const std::uint32_t target = ring.vertices[w];
    for (const std::uint32_t t : fans_[v]) {
      Triangle& c = triangles_[t];
      bool dies = false;
      for (std::uint32_t& x : c) {
        dies = dies || x == target;
        if (x == v) x = target;
      }
      if (dies) continue;
      extra_.push_back({t, extra_of_[target]});
      extra_of_[target] = static_cast<std::uint32_t>(extra_.size() - 1);
    }
    gone_[v] = true;
  }

  void addShares(std::uint32_t v, const VertexRing& ring) {
    out_.removed.push_back(v);
    const Vec3d from = at(v);
    const std::size_t n = ring.count;
    if (!ring.closed) {
      const double a = (at(ring.vertices[0]) - from).norm(),
                   b = (at(ring.vertices[n - 1]) - from).norm();
      const double share = a + b > 0 ? b / (a + b) : 0.5;
      add(ring.vertices[0], share);
      add(ring.vertices[n - 1], 1 - share);
    } else {
      std::array<double, kMaxDegree + 1> angles{}, lengths{}, weights{};
      double around = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const Vec3d a = at(ring.vertices[i]) - from, b = at(ring.vertices[(i + 1) % n]) - from;
        lengths[i] = a.norm();
        angles[i] = std::atan2(a.cross(b).norm(), a.dot(b));
        around += angles[i];
      }
      // Laid flat, directions keep their shares of the full turn.
      constexpr double kWidest = 0.98 * std::numbers::pi;
      for (std::size_t i = 0; i < n; ++i)
        angles[i] = std::min(angles[i] * 2 * std::numbers::pi / around, kWidest);
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        weights[i] = (std::tan(angles[(i + n - 1) % n] / 2) + std::tan(angles[i] / 2)) / lengths[i];
        sum += weights[i];
      }
      for (std::size_t i = 0; i < n; ++i) add(ring.vertices[i], weights[i] / sum);
    }
    out_.offsets.push_back(static_cast<std::uint32_t>(out_.shares.size()));
  }

  void add(std::uint32_t vertex, double weight) {
    out_.shares.push_back({vertex, static_cast<float>(weight)});
  }

  Coarsening finish() {
    std::vector<std::uint32_t> entry(count_, kNobody);
    for (std::uint32_t v = 0; v < count_; ++v)
      if (!gone_[v]) {
        entry[v] = static_cast<std::uint32_t>(out_.kept.size());
        out_.kept.push_back(v);
      }
    out_.triangles = mapped(triangles_, entry);
    out_.triangle_source = std::move(source_);
    // What went last comes back first.
    std::vector<Coarsening::Share> shares;
    shares.reserve(out_.shares.size());
    std::vector<std::uint32_t> offsets = {0};
    for (std::size_t i = out_.removed.size(); i-- > 0;) {
      const std::span<const Coarsening::Share> row = out_.sharesOf(i);
      shares.insert(shares.end(), row.begin(), row.end());
      offsets.push_back(static_cast<std::uint32_t>(shares.size()));
    }
    out_.shares = std::move(shares);
    out_.offsets = std::move(offsets);
    std::reverse(out_.removed.begin(), out_.removed.end());
    return std::move(out_);
  }

  struct Extra {
    std::uint32_t triangle = 0, next = kNobody;
  };

  const CoarseningDesc& desc_;
  std::size_t count_;
  std::span<const Vec3f> positions_;
  std::vector<Triangle> triangles_;
  std::vector<std::uint32_t> source_;
  std::vector<bool> gone_;
  IndexLists fans_;                      ///< of a pass: triangles around each vertex
  std::vector<Extra> extra_;             ///< lists of triangles that came to a vertex in a pass
  std::vector<std::uint32_t> extra_of_;  ///< per vertex
  Coarsening out_;
};

}  // namespace

Result<Coarsening> coarsened(std::span<const Vec3f> positions, std::span<const Triangle> triangles,
                             const CoarseningDesc& desc, const Progress& progress) {
  if (desc.max_triangles == 0)
    return Error{ErrorCode::BadArgument, "must be above 0", {.element = "max_triangles"}};
  if (!(desc.deviation_weight >= 0 && desc.deviation_weight <= 1000))
    return Error{ErrorCode::BadArgument, "must be 0 to 1000", {.element = "deviation_weight"}};
  return Coarsener(positions, triangles, desc).run(progress);
}

}  // namespace derm
