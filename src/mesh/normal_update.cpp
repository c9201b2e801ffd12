#include "derm/mesh/normal_update.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "derm/base/parallel.h"

namespace derm {
namespace {

/// Normals closer than this at one place belong to one smooth surface (a seam, not an edge).
constexpr float kSameNormal = 1e-3f;
/// Authored normals nearer than this to the area-weighted ones are taken as those.
constexpr float kSameAsArea = 2e-3f;
constexpr std::size_t kChunk = 4096;

/// A place with more different normals than this is not a corner but junk; the search for equal
/// ones must not become quadratic there.
constexpr std::size_t kMostNormalsAtAPlace = 64;

/// The group of each vertex (same place, same rest normal), numbered from 0.
struct Groups {
  std::vector<std::uint32_t> of_vertex;
  std::uint32_t count = 0;
};

Groups groupsOf(const TriMesh& mesh) {
  const auto place = [&](std::uint32_t v) {
    const Vec3f& p = mesh.positions[v];
    return std::array{p.x(), p.y(), p.z()};
  };
  std::vector<std::uint32_t> order(mesh.vertexCount());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto pa = place(a);
    const auto pb = place(b);
    return pa != pb ? pa < pb : a < b;
  });
  Groups groups{.of_vertex = std::vector<std::uint32_t>(mesh.vertexCount())};
  std::vector<std::uint32_t> firsts;  // the first vertex of each group at this place
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t v = order[i];
    if (i > 0 && place(v) != place(order[i - 1])) firsts.clear();
    const auto same = std::find_if(firsts.begin(), firsts.end(), [&](std::uint32_t f) {
      return mesh.normals.empty() || (mesh.normals[v] - mesh.normals[f]).norm() < kSameNormal;
    });
    if (same != firsts.end()) {
      groups.of_vertex[v] = groups.of_vertex[*same];
      continue;
    }
    groups.of_vertex[v] = groups.count++;
    if (firsts.size() < kMostNormalsAtAPlace) firsts.push_back(v);
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

/// Unit area-weighted normal, or zero where there is no area.
Vec3f areaNormal(std::span<const std::uint32_t> around, std::span<const Triangle> triangles,
                 std::span<const Vec3f> positions) {
  Vec3f sum = Vec3f::Zero();
  for (const std::uint32_t t : around) {
    const Vec3f& p = positions[triangles[t][0]];
    const Vec3f u = positions[triangles[t][1]] - p;
    const Vec3f v = positions[triangles[t][2]] - p;
    sum += u.cross(v);
  }
  const float length = sum.stableNorm();  // tiny characters have areas below 1e-19
  if (!(length > 0) || !std::isfinite(length)) return Vec3f::Zero();
  return sum / length;
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
  if (rest.normals.empty()) return;
  for (std::size_t g = 0; g < groups.count; ++g) {
    const Vec3f area = areaNormal(around_[g], triangles_, rest.positions);
    for (const std::uint32_t v : members_[g])
      authored_[v] = (rest.normals[v] - area).norm() > kSameAsArea;
  }
  reads_before_ = std::any_of(authored_.begin(), authored_.end(), [](auto a) { return a != 0; });
}

void NormalUpdate::updateGroup(std::size_t group, std::span<const Vec3f> before,
                               std::span<const Vec3f> after,
                               std::span<Vec3f> normals) const noexcept {
  const Vec3f now = areaNormal(around_[group], triangles_, after);
  if (now == Vec3f::Zero()) return;
  const std::span<const std::uint32_t> members = members_[group];
  const bool any_authored = std::any_of(members.begin(), members.end(),
                                        [&](std::uint32_t v) { return authored_[v] != 0; });
  const Vec3f then =
      any_authored ? areaNormal(around_[group], triangles_, before) : Vec3f(Vec3f::Zero());
  for (const std::uint32_t v : members) {
    if (authored_[v] == 0)
      normals[v] = now;
    else if (then != Vec3f::Zero())
      normals[v] = turned(normals[v], then, now);
  }
}

void NormalUpdate::evaluate(std::span<const Vec3f> before, std::span<const Vec3f> after,
                            std::span<Vec3f> normals) const noexcept {
  DERM_REQUIRE(before.size() == vertexCount() && after.size() == vertexCount() &&
               normals.size() == vertexCount());
  parallelFor(members_.rowCount(), kChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) updateGroup(g, before, after, normals);
  });
}

}  // namespace derm
