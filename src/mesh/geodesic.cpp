#include "derm/mesh/geodesic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

namespace derm {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Label of a value that no single seed explains.
constexpr std::uint32_t kFront = 0xFFFFFFFFu;
/// Relative difference of values that rounding can make.
constexpr double kTie = 1e-9;
/// How much the ends of an edge must head towards each other (sum of two cosines) to be taken for
/// two fronts that meet.
constexpr double kMeeting = 0.1;

struct Flat {
  double x = 0;
  double y = 0;  ///< >= 0
};

/// Where the third corner is if the first is at 0 and the second at (base, 0).
Flat laidFlat(double base, double from_first, double from_second) {
  if (!(base > 0)) return {from_first, 0};
  const double x = (from_first * from_first - from_second * from_second + base * base) / (2 * base);
  return {x, std::sqrt(std::max(from_first * from_first - x * x, 0.0))};
}

/// A front that has passed the edge from a = (0,0) to b = (base,0) and reached a vertex.
struct Arrival {
  double value = kInfinity;  ///< infinity: it did not come through the edge
  double through = 0;        ///< where on the edge, [0,base]
};

/// At `c` from a round wave whose centre has distances ra and rb from a and b.
Arrival roundWave(double ra, double rb, double base, const Flat& c) {
  const double x = (ra * ra - rb * rb + base * base) / (2 * base);
  const double squared = ra * ra - x * x;
  if (!(squared >= 0)) return {};
  const double y = std::sqrt(squared);  // the centre is at (x, -y)
  if (!(y + c.y > 0)) return {};
  const double through = x + (c.x - x) * y / (y + c.y);
  if (through < 0 || through > base) return {};
  return {std::hypot(c.x - x, c.y + y), through};
}

/// At `c` from a straight front with values da and db at a and b.
Arrival straightWave(double da, double db, double base, const Flat& c) {
  const double slope = (db - da) / base;
  if (!(std::abs(slope) < 1)) return {};
  const double rise = std::sqrt(1 - slope * slope);
  const double through = c.x - c.y * slope / rise;
  if (through < 0 || through > base) return {};
  return {da + slope * c.x + rise * c.y, through};
}

struct HalfEdge {
  std::uint32_t a = 0;  ///< < b
  std::uint32_t b = 0;
  std::uint32_t opposite = 0;
};

std::vector<HalfEdge> sortedHalfEdges(std::span<const Triangle> triangles) {
  std::vector<HalfEdge> out;
  out.reserve(3 * triangles.size());
  for (const Triangle& t : triangles)
    for (int c = 0; c < 3; ++c) {
      const std::uint32_t a = t[(c + 1) % 3], b = t[(c + 2) % 3];
      out.push_back({std::min(a, b), std::max(a, b), t[c]});
    }
  std::sort(out.begin(), out.end(), [](const HalfEdge& x, const HalfEdge& y) {
    if (x.a != y.a) return x.a < y.a;
    return x.b != y.b ? x.b < y.b : x.opposite < y.opposite;
  });
  return out;
}

}  // namespace

/// Collects steps and gates per vertex.
struct GeodesicSurface::Builder {
  explicit Builder(std::span<const Vec3d> at) : positions(at), steps(at.size()), gates(at.size()) {}

  double length(std::uint32_t a, std::uint32_t b) const {
    return (positions[a] - positions[b]).norm();
  }

  void addStep(std::uint32_t a, std::uint32_t b, double ab) {
    steps[a].push_back({b, ab});
    steps[b].push_back({a, ab});
  }

  void addGate(std::uint32_t a, std::uint32_t b, std::uint32_t target, double ab, double a_target,
               double b_target) {
    gates[a].push_back({b, target, ab, a_target, b_target});
    gates[b].push_back({a, target, ab, b_target, a_target});
  }

  /// The edge ab with its triangles to c and d.
  void addUnfolded(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    const double ab = length(a, b), ac = length(a, c), bc = length(b, c);
    const double ad = length(a, d), bd = length(b, d);
    const bool obtuse_at_c = ac * ac + bc * bc < ab * ab;
    const bool obtuse_at_d = ad * ad + bd * bd < ab * ab;
    const Flat above = laidFlat(ab, ac, bc), below = laidFlat(ab, ad, bd);
    if (!(above.y + below.y > 0)) return;
    const double through = below.x + (above.x - below.x) * below.y / (above.y + below.y);
    if (!(through > 0 && through < ab)) return;
    const double cd = std::hypot(above.x - below.x, above.y + below.y);
    addStep(c, d, cd);
    if (obtuse_at_c) {
      addGate(a, d, c, ad, ac, cd);
      addGate(b, d, c, bd, bc, cd);
    }
    if (obtuse_at_d) {
      addGate(a, c, d, ac, ad, cd);
      addGate(b, c, d, bc, bd, cd);
    }
  }

  template <class T>
  static void pack(const std::vector<std::vector<T>>& rows, std::vector<std::uint32_t>& first,
                   std::vector<T>& all) {
    first.reserve(rows.size() + 1);
    first.push_back(0);
    for (const std::vector<T>& row : rows) {
      all.insert(all.end(), row.begin(), row.end());
      first.push_back(static_cast<std::uint32_t>(all.size()));
    }
  }

  std::span<const Vec3d> positions;
  std::vector<std::vector<Step>> steps;
  std::vector<std::vector<Gate>> gates;
};

GeodesicSurface::GeodesicSurface(std::span<const Vec3d> positions,
                                 std::span<const Triangle> triangles,
                                 std::span<const std::uint32_t> weld)
    : vertex_count_(positions.size()),
      positions_(positions.begin(), positions.end()),
      weld_(weld.begin(), weld.end()) {
  DERM_REQUIRE(weld.empty() || weld.size() == positions.size());
  std::vector<Triangle> used;
  used.reserve(triangles.size());
  for (Triangle t : triangles) {
    DERM_ASSERT(t[0] < vertex_count_ && t[1] < vertex_count_ && t[2] < vertex_count_);
    if (!weld.empty())
      for (std::uint32_t& v : t) v = weld[v];
    if (t[0] != t[1] && t[1] != t[2] && t[2] != t[0]) used.push_back(t);
  }
  Builder builder(positions_);
  for (const Triangle& t : used)
    for (int c = 0; c < 3; ++c) {
      const std::uint32_t a = t[c], b = t[(c + 1) % 3], target = t[(c + 2) % 3];
      builder.addGate(a, b, target, builder.length(a, b), builder.length(a, target),
                      builder.length(b, target));
    }
  const std::vector<HalfEdge> edges = sortedHalfEdges(used);
  for (std::size_t i = 0, next = 0; i < edges.size(); i = next) {
    const auto [a, b, c] = edges[i];
    while (next < edges.size() && edges[next].a == a && edges[next].b == b) ++next;
    builder.addStep(a, b, builder.length(a, b));
    if (next - i == 2 && edges[i + 1].opposite != c)
      builder.addUnfolded(a, b, c, edges[i + 1].opposite);
  }
  Builder::pack(builder.steps, first_step_, steps_);
  Builder::pack(builder.gates, first_gate_, gates_);
}

/// One spreading of values from seeds. Values become final in growing order, and only final ones
/// are passed on.
struct GeodesicSurface::Wave {
  using Entry = std::pair<double, std::uint32_t>;

  Wave(const GeodesicSurface& s, std::span<const GeodesicSeed> from)
      : surface(s),
        seeds(from),
        value(s.vertex_count_, kInfinity),
        label(s.vertex_count_, kFront),
        heading(s.vertex_count_, Vec3d::Zero()),
        final(s.vertex_count_, false) {}

  /// `way` is the last leg, in space.
  void offer(std::uint32_t vertex, double candidate, std::uint32_t from, const Vec3d& way) {
    if (final[vertex] || !(candidate < kInfinity)) return;
    const double old = value[vertex];
    if (candidate < old) {
      value[vertex] = candidate;
      const double length = way.norm();
      heading[vertex] = length > 0 ? Vec3d(way / length) : Vec3d(Vec3d::Zero());
      queue.emplace(candidate, vertex);
    }
    if (candidate < old - kTie * std::abs(old) || old == kInfinity)
      label[vertex] = from;
    else if (candidate <= old + kTie * std::abs(old) && label[vertex] != from)
      // Two ways of equal length: neither seed alone explains the front from here on. This also
      // keeps mirrored meshes mirrored, whichever side was visited first.
      label[vertex] = kFront;
  }

  /// The front on the edge between the final vertices `from` and gate.other reaches gate.target.
  void pass(std::uint32_t from, const Gate& gate) {
    if (!final[gate.other] || final[gate.target] || !(gate.base > 0)) return;
    const std::vector<Vec3d>& at = surface.positions_;
    const Vec3d edge = at[gate.other] - at[from];
    // Where the ends head towards each other two fronts meet, and nothing passes between them.
    if (edge.dot(heading[from] - heading[gate.other]) > kMeeting * gate.base) return;
    const Flat c = laidFlat(gate.base, gate.to_target, gate.other_target);
    const bool round = label[from] == label[gate.other] && label[from] != kFront;
    const double start = round ? seeds[label[from]].distance_m : 0.0;
    const double da = value[from] - start, db = value[gate.other] - start;
    const Arrival arrival =
        round ? roundWave(da, db, gate.base, c) : straightWave(da, db, gate.base, c);
    // A front cannot reach a vertex before it has passed the edge.
    if (arrival.value < std::max(da, db)) return;
    const Vec3d through = at[from] + arrival.through / gate.base * edge;
    offer(gate.target, start + arrival.value, round ? label[from] : kFront,
          at[gate.target] - through);
  }

  void spread() {
    const std::vector<Vec3d>& at = surface.positions_;
    while (!queue.empty()) {
      const auto [reached, vertex] = queue.top();
      queue.pop();
      if (final[vertex]) continue;  // an entry from before it was improved
      final[vertex] = true;
      for (std::uint32_t i = surface.first_step_[vertex]; i < surface.first_step_[vertex + 1];
           ++i) {
        const Step& step = surface.steps_[i];
        offer(step.target, reached + step.length, label[vertex], at[step.target] - at[vertex]);
      }
      for (std::uint32_t i = surface.first_gate_[vertex]; i < surface.first_gate_[vertex + 1]; ++i)
        pass(vertex, surface.gates_[i]);
    }
  }

  const GeodesicSurface& surface;
  std::span<const GeodesicSeed> seeds;
  std::vector<double> value;
  std::vector<std::uint32_t> label;  ///< index of the seed a value comes from, or kFront
  std::vector<Vec3d> heading;        ///< unit, or zero at a seed
  std::vector<bool> final;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
};

std::vector<double> GeodesicSurface::distances(std::span<const GeodesicSeed> seeds) const {
  Wave wave(*this, seeds);
  for (std::size_t s = 0; s < seeds.size(); ++s) {
    DERM_REQUIRE(seeds[s].vertex < vertex_count_);
    const std::uint32_t v = weld_.empty() ? seeds[s].vertex : weld_[seeds[s].vertex];
    wave.offer(v, seeds[s].distance_m, static_cast<std::uint32_t>(s), Vec3d::Zero());
  }
  wave.spread();
  if (!weld_.empty())
    for (std::size_t v = 0; v < vertex_count_; ++v) wave.value[v] = wave.value[weld_[v]];
  return std::move(wave.value);
}

}  // namespace derm
