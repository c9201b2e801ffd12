#include "derm/mesh/normal_update.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "derm/base/parallel.h"

namespace derm {
namespace {

/// Normals closer than this at one position belong to one smooth surface (a seam, not an edge).
constexpr float kSameNormal = 1e-3f;
/// Authored normals nearer than this to the area-weighted ones are taken as those.
constexpr float kSameAsArea = 2e-3f;
constexpr std::size_t kNormalsPerChunk = 4096;

/// A position with more different normals than this is not a corner but junk; the search for equal
/// ones must not become quadratic there.
constexpr std::size_t kMaxNormalsPerPosition = 64;

/// The group of each vertex (same position, same rest normal), numbered from 0.
struct Groups {
  std::vector<std::uint32_t> of_vertex;
  std::uint32_t count = 0;
};

Groups groupsOf(const TriMesh& mesh) {
  const auto position = [&](std::uint32_t v) {
    const Vec3f& p = mesh.positions[v];
    return std::array{p.x(), p.y(), p.z()};
  };
  std::vector<std::uint32_t> order(mesh.vertexCount());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto pa = position(a);
    const auto pb = position(b);
    return pa != pb ? pa < pb : a < b;
  });
  constexpr std::uint32_t kNoGroup = 0xffffffff;
  std::vector<std::uint32_t> first(mesh.vertexCount());  // of each vertex's group
  std::vector<std::uint32_t> firsts;                     // of the groups at this position
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t v = order[i];
    if (i > 0 && position(v) != position(order[i - 1])) firsts.clear();
    const auto same = std::find_if(firsts.begin(), firsts.end(), [&](std::uint32_t f) {
      return mesh.normals.empty() || (mesh.normals[v] - mesh.normals[f]).norm() < kSameNormal;
    });
    first[v] = same != firsts.end() ? *same : v;
    if (same == firsts.end() && firsts.size() < kMaxNormalsPerPosition) firsts.push_back(v);
  }
  // Numbered as the mesh numbers its vertices, so that neighbours in memory are worked on together.
  Groups groups{.of_vertex = std::vector<std::uint32_t>(mesh.vertexCount(), kNoGroup)};
  for (std::size_t v = 0; v < first.size(); ++v) {
    std::uint32_t& group = groups.of_vertex[first[v]];
    if (group == kNoGroup) group = groups.count++;
    groups.of_vertex[v] = group;
  }
  return groups;
}

IndexLists membersOf(const Groups& groups) {
  IndexLists members;
  members.offsets.assign(std::size_t{groups.count} + 1, 0);
  for (const std::uint32_t g : groups.of_vertex) ++members.offsets[g + 1];
  std::partial_sum(members.offsets.begin(), members.offsets.end(), members.offsets.begin());
  members.indices.resize(groups.of_vertex.size());
  std::vector<std::uint32_t> next(members.offsets.begin(), members.offsets.end() - 1);
  for (std::size_t v = 0; v < groups.of_vertex.size(); ++v)
    members.indices[next[groups.of_vertex[v]]++] = static_cast<std::uint32_t>(v);
  return members;
}

/// v at unit length, or zero where it has none.
inline Vec3f unitOrZero(const Vec3f& v) {
  const float square = v.squaredNorm();
  if (square > 1e-30f && square < 1e30f) return v * (1 / std::sqrt(square));
  const float length = v.stableNorm();  // tiny characters have areas below 1e-19
  if (!(length > 0) || !std::isfinite(length)) return Vec3f::Zero();
  return v / length;
}

Vec3f twiceArea(const Triangle& t, std::span<const Vec3f> positions) {
  const Vec3f& p = positions[t[0]];
  const Vec3f u = positions[t[1]] - p;
  const Vec3f v = positions[t[2]] - p;
  return u.cross(v);
}

Vec3f areaNormal(std::span<const std::uint32_t> around, std::span<const Triangle> triangles,
                 std::span<const Vec3f> positions) {
  Vec3f sum = Vec3f::Zero();
  for (const std::uint32_t t : around) sum += twiceArea(triangles[t], positions);
  return unitOrZero(sum);
}

/// A unit vector turned by the smallest rotation that takes `from` to `to`.
Vec3f turned(const Vec3f& v, const Vec3f& from, const Vec3f& to) {
  const float cosine = from.dot(to);
  const Vec3f axis = from.cross(to);
  if (cosine < -0.999f) return -v;  // half a turn: any axis does
  const Vec3f out = cosine * v + axis.cross(v) + axis * (axis.dot(v) / (1 + cosine));
  const float length = out.norm();
  return length > 0 ? Vec3f(out / length) : v;
}

}  // namespace

NormalUpdate::NormalUpdate(const TriMesh& rest) : triangles_(rest.triangles) {
  const Groups groups = groupsOf(rest);
  members_ = membersOf(groups);
  around_ = vertexTriangles(mapped(rest.triangles, groups.of_vertex), groups.count);
  authored_.resize(rest.vertexCount(), 0);
  turns_.resize(groups.count, 0);
  if (rest.normals.empty()) return;
  for (std::size_t g = 0; g < groups.count; ++g) {
    const Vec3f area = areaNormal(around_[g], triangles_, rest.positions);
    for (const std::uint32_t v : members_[g]) {
      authored_[v] = (rest.normals[v] - area).norm() > kSameAsArea;
      turns_[g] |= authored_[v];
    }
    reads_before_ |= turns_[g] != 0;
  }
}

void NormalUpdate::turnGroup(std::size_t group, const Vec3f& now, std::span<const Vec3f> before,
                             std::span<Vec3f> normals) const noexcept {
  const Vec3f then = areaNormal(around_[group], triangles_, before);
  for (const std::uint32_t v : members_[group]) {
    if (authored_[v] == 0)
      normals[v] = now;
    else if (then != Vec3f::Zero())
      normals[v] = turned(normals[v], then, now);
  }
}

template <class Use>
void NormalUpdate::forGroups(std::span<const Vec3f> positions, std::span<Vec3f> areas,
                             const Use& use) const noexcept {
  parallelFor(triangles_.size(), kNormalsPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) areas[t] = twiceArea(triangles_[t], positions);
  });
  parallelFor(members_.rowCount(), kNormalsPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) {
      Vec3f sum = Vec3f::Zero();
      for (const std::uint32_t t : around_[g]) sum += areas[t];
      const Vec3f now = unitOrZero(sum);
      if (now != Vec3f::Zero()) use(g, now);
    }
  });
}

void NormalUpdate::evaluate(std::span<const Vec3f> before, std::span<const Vec3f> after,
                            std::span<Vec3f> areas, std::span<Vec3f> normals) const noexcept {
  DERM_REQUIRE(before.size() == vertexCount() && after.size() == vertexCount() &&
               normals.size() == vertexCount() && areas.size() >= triangles_.size());
  forGroups(after, areas, [&](std::size_t g, const Vec3f& now) {
    if (turns_[g] != 0)
      turnGroup(g, now, before, normals);
    else
      for (const std::uint32_t v : members_[g]) normals[v] = now;
  });
}

void NormalUpdate::evaluateSmooth(std::span<const Vec3f> positions, std::span<Vec3f> areas,
                                  std::span<Vec3f> normals) const noexcept {
  DERM_REQUIRE(positions.size() == vertexCount() && normals.size() == vertexCount() &&
               areas.size() >= triangles_.size());
  forGroups(positions, areas, [&](std::size_t g, const Vec3f& now) {
    for (const std::uint32_t v : members_[g])
      if (authored_[v] == 0) normals[v] = now;
  });
}

}  // namespace derm
