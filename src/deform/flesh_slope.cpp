#include "deform/flesh_slope.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "derm/mesh/weld.h"

namespace derm::detail {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
/// A triangle counts as turned where less than this is left of its area, seen from where it faced.
constexpr float kLeast = 0.1f;
constexpr int kGuardPasses = 4;
/// Triangles that have turned in spite of it: their corners go back, by half and then altogether.
constexpr int kRetreatPasses = 16, kUndoFrom = 12;
constexpr float kLeastAtEnd = 0.02f;
/// Of the way to the mean offset of its triangle that the guard moves a corner.
constexpr float kGuardShare = 0.75f;
/// Of the steepest slope: where none is above, no triangle is thin enough to turn all the same.
constexpr float kGuardedSlope = 0.25f;
/// Lengths sink by whole neighbourhoods in a sweep; more would only be a long chain of vertices
/// numbered against the way.
constexpr int kMaxSweeps = 1000;

/// Whether any length rises too steeply; cheap, since most do not rise at all.
bool isSteep(const FleshPatch& patch, float max_slope, const FleshSlopeScratch& s) {
  for (std::size_t p = 0; p < patch.moving; ++p)
    for (const std::uint32_t q : patch.neighbours[p]) {
      const float rise = s.length[p] - s.length[q];
      if (rise > 0 &&
          rise * rise > max_slope * max_slope * (s.before[p] - s.before[q]).squaredNorm())
        return true;
    }
  return false;
}

void sinkLengths(const FleshPatch& patch, float max_slope, FleshSlopeScratch& s) {
  for (std::size_t p = 0; p < patch.moving; ++p)
    for (std::uint32_t k = patch.neighbours.offsets[p]; k < patch.neighbours.offsets[p + 1]; ++k)
      s.rise[k] = max_slope * (s.before[p] - s.before[patch.neighbours.indices[k]]).norm();
  const auto sink = [&](std::size_t p) {
    float least = s.length[p];
    for (std::uint32_t k = patch.neighbours.offsets[p]; k < patch.neighbours.offsets[p + 1]; ++k)
      least = std::min(least, s.length[patch.neighbours.indices[k]] + s.rise[k]);
    const bool sinks = least < s.length[p];
    s.length[p] = least;
    return sinks;
  };
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool sank = false;
    for (std::size_t p = 0; p < patch.moving; ++p) sank |= sink(p);
    if (!sank) return;
    for (std::size_t p = patch.moving; p-- > 0;) sink(p);
  }
}

/// [m] how far a vertex at `p` may go at most.
float farthest(const FleshOffsets& o, const Vec3f& p) {
  const float square = o.bone_along.squaredNorm();
  const Vec3f q = p - o.bone_from;
  const float share = square > 0 ? std::clamp(q.dot(o.bone_along) / square, 0.0f, 1.0f) : 0.0f;
  const float depth = Vec3f(q - share * o.bone_along).norm() - o.bone_radius;
  return o.reach * std::max(depth, 0.0f);
}

/// One pass over the triangles of which less than `least` is left; false where there is none. Their
/// corners go towards the mean offset of the triangle; or, with `keep` below 1, keep so much of
/// their own.
bool guardTriangles(const FleshPatch& patch, const FleshOffsets& offsets, float least, float keep,
                    FleshSlopeScratch& s) {
  bool any = false;
  for (const Triangle& t : patch.triangles) {
    const auto area = [&](const auto& at) -> Vec3f {
      return Vec3f(at(t[1]) - at(t[0])).cross(Vec3f(at(t[2]) - at(t[0])));
    };
    const Vec3f was = area([&](std::uint32_t p) -> Vec3f { return s.before[p]; });
    const Vec3f is = area([&](std::uint32_t p) -> Vec3f { return s.before[p] + s.offset[p]; });
    if (!(is.dot(was) < least * was.squaredNorm())) continue;
    if (!any) {
      std::fill(s.pull.begin(), s.pull.end(), Vec3f::Zero());
      std::fill(s.pulls.begin(), s.pulls.end(), 0u);
      any = true;
    }
    const Vec3f mean = (s.offset[t[0]] + s.offset[t[1]] + s.offset[t[2]]) / 3;
    for (const std::uint32_t p : t) {
      if (p >= patch.moving) continue;
      s.pull[p] += mean;
      ++s.pulls[p];
    }
  }
  if (!any) return false;
  for (std::size_t p = 0; p < patch.moving; ++p) {
    if (s.pulls[p] == 0) continue;
    Vec3f& d = s.offset[p];
    if (keep < 1) {
      d *= keep;
      continue;
    }
    d += kGuardShare * (s.pull[p] / static_cast<float>(s.pulls[p]) - d);
    const float max = farthest(offsets, s.before[p]);
    const float length = d.norm();
    if (length > max) d *= max / length;
  }
  return true;
}

}  // namespace

FleshPatch makeFleshPatch(const TriMesh& rest, std::span<const std::uint32_t> vertices,
                          std::span<const float> alpha) {
  const std::vector<std::uint32_t> welded = weldMap(rest.positions);
  FleshPatch out;
  std::vector<std::uint32_t> point(rest.vertexCount(), kNone);  // of a welding map's values
  std::vector<float> strength;
  std::vector<std::uint32_t> point_of_entry;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    std::uint32_t& p = point[welded[vertices[i]]];
    if (p == kNone) {
      p = static_cast<std::uint32_t>(out.vertex.size());
      out.vertex.push_back(vertices[i]);
      strength.push_back(0);
    }
    strength[p] = std::max(strength[p], alpha[i]);
    point_of_entry.push_back(p);
  }
  out.moving = out.vertex.size();
  std::vector<std::uint32_t> counts(out.moving + 1, 0);
  for (const std::uint32_t p : point_of_entry) ++counts[p + 1];
  for (std::size_t p = 0; p < out.moving; ++p) counts[p + 1] += counts[p];
  out.entries.offsets = counts;
  out.entries.indices.resize(vertices.size());
  for (std::size_t i = 0; i < vertices.size(); ++i)
    out.entries.indices[counts[point_of_entry[i]]++] = static_cast<std::uint32_t>(i);

  for (const Triangle& t : rest.triangles) {
    const std::array<std::uint32_t, 3> w = {welded[t[0]], welded[t[1]], welded[t[2]]};
    if (w[0] == w[1] || w[1] == w[2] || w[2] == w[0]) continue;
    const bool moves = std::any_of(w.begin(), w.end(), [&](std::uint32_t v) {
      return point[v] < out.moving;  // false for none
    });
    if (!moves) continue;
    for (std::size_t k = 0; k < 3; ++k)
      if (point[w[k]] == kNone) {
        point[w[k]] = static_cast<std::uint32_t>(out.vertex.size());
        out.vertex.push_back(t[k]);
      }
    out.triangles.push_back({point[w[0]], point[w[1]], point[w[2]]});
  }
  strength.resize(out.vertex.size(), 0.0f);
  out.neighbours = vertexNeighbours(out.triangles, out.vertex.size());
  out.neighbours.indices.resize(out.neighbours.offsets[out.moving]);
  out.neighbours.offsets.resize(out.moving + 1);
  for (std::size_t p = 0; p < out.moving; ++p)
    for (const std::uint32_t q : out.neighbours[p]) {
      const float length = (rest.positions[out.vertex[p]] - rest.positions[out.vertex[q]]).norm();
      if (length > 0)
        out.steepest = std::max(out.steepest, std::abs(strength[p] - strength[q]) / length);
    }
  return out;
}

bool limitSlope(const FleshPatch& patch, float max_slope, bool directions_differ,
                const FleshOffsets& offsets, FleshSlopeScratch& s) noexcept {
  for (std::size_t p = 0; p < patch.moving; ++p) {
    s.before[p] = offsets.before[patch.entries[p].front()];
    s.offset[p] = offsets.positions[patch.vertex[p]] - s.before[p];
    s.length[p] = s.offset[p].norm();
  }
  for (std::size_t p = patch.moving; p < patch.vertex.size(); ++p) {
    s.before[p] = offsets.positions[patch.vertex[p]];
    s.offset[p].setZero();
    s.length[p] = 0;
  }
  if (!directions_differ && !isSteep(patch, kGuardedSlope * max_slope, s)) return false;
  const bool steep = isSteep(patch, max_slope, s);
  if (steep) {
    sinkLengths(patch, max_slope, s);
    for (std::size_t p = 0; p < patch.moving; ++p) {
      const float length = s.offset[p].norm();
      if (s.length[p] < length) s.offset[p] *= s.length[p] / length;
    }
  }
  bool guarded = false;
  for (int pass = 0; pass < kGuardPasses && guardTriangles(patch, offsets, kLeast, 1, s); ++pass)
    guarded = true;
  if (guarded)
    for (int pass = 0; pass < kRetreatPasses; ++pass)
      if (!guardTriangles(patch, offsets, kLeastAtEnd, pass < kUndoFrom ? 0.5f : 0.0f, s)) break;
  if (!steep && !guarded) return false;
  for (std::size_t p = 0; p < patch.moving; ++p) {
    const Vec3f was = offsets.positions[patch.vertex[p]] - s.before[p];
    if (s.offset[p] == was) continue;  // what was not cut short keeps its bits
    for (const std::uint32_t entry : patch.entries[p])
      offsets.positions[offsets.vertices[entry]] = offsets.before[entry] + s.offset[p];
  }
  return true;
}

}  // namespace derm::detail
