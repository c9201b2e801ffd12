#include "cast/work_mesh.h"

#include <algorithm>

namespace derm::detail::cast {
namespace {

bool dead(const Triangle& t) { return t[0] == t[1]; }

int cornerOf(const Triangle& t, std::uint32_t v) {
  return t[0] == v ? 0 : t[1] == v ? 1 : t[2] == v ? 2 : -1;
}

Vec3d triangleNormal(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  return Vec3d(b - a).cross(Vec3d(c - a));
}

}  // namespace

WorkMesh::WorkMesh(const Surface& surface)
    : positions(surface.positions), triangles_(surface.triangles), materials_(surface.materials) {
  around_.resize(positions.size());
  for (Index t = 0; t < triangles_.size(); ++t)
    for (const Index v : triangles_[t]) around_[v].push_back(t);
  alive_triangles_ = triangles_.size();
}

Surface WorkMesh::compacted() const {
  Surface out;
  std::vector<Index> new_index(positions.size(), kNone);
  for (Index v = 0; v < positions.size(); ++v) {
    if (!alive(v)) continue;
    new_index[v] = static_cast<Index>(out.positions.size());
    out.positions.push_back(positions[v]);
  }
  for (Index t = 0; t < triangles_.size(); ++t) {
    const Triangle& f = triangles_[t];
    if (dead(f)) continue;
    out.triangles.push_back({new_index[f[0]], new_index[f[1]], new_index[f[2]]});
    out.materials.push_back(materials_[t]);
  }
  return out;
}

Vec3d WorkMesh::normal(Index t) const {
  const Triangle& f = triangles_[t];
  return triangleNormal(positions[f[0]], positions[f[1]], positions[f[2]]);
}

std::vector<std::array<WorkMesh::Index, 2>> WorkMesh::edges() const {
  std::vector<std::array<Index, 2>> out;
  out.reserve(alive_triangles_ * 3 / 2 + 16);
  for (const Triangle& f : triangles_) {
    if (dead(f)) continue;
    for (int i = 0; i < 3; ++i) {
      const Index a = f[i], b = f[(i + 1) % 3];
      if (a < b || sides(a, b).right == kNone) out.push_back({a, b});
    }
  }
  return out;
}

void WorkMesh::neighbours(Index v, std::vector<Index>& out) const {
  out.clear();
  for (const Index t : around_[v])
    for (const Index u : triangles_[t])
      if (u != v && std::find(out.begin(), out.end(), u) == out.end()) out.push_back(u);
}

WorkMesh::Sides WorkMesh::sides(Index a, Index b) const {
  Sides s;
  for (const Index t : around_[a]) {
    const Triangle& f = triangles_[t];
    const int i = cornerOf(f, a);
    if (f[(i + 1) % 3] == b) {
      s.left = t;
      s.left_corner = f[(i + 2) % 3];
    } else if (f[(i + 2) % 3] == b) {
      s.right = t;
      s.right_corner = f[(i + 1) % 3];
    }
  }
  return s;
}

void WorkMesh::detach(Index t, Index v) {
  std::vector<Index>& list = around_[v];
  list.erase(std::find(list.begin(), list.end(), t));
}

WorkMesh::Index WorkMesh::split(Index a, Index b, const Vec3d& at) {
  const Sides s = sides(a, b);
  const auto middle = static_cast<Index>(positions.size());
  positions.push_back(at);
  around_.emplace_back();
  for (const auto& [t, corner] :
       {std::pair{s.left, s.left_corner}, std::pair{s.right, s.right_corner}}) {
    if (t == kNone) continue;
    // The old triangle keeps a, the new one gets b; both get the middle.
    const auto added = static_cast<Index>(triangles_.size());
    Triangle copy = triangles_[t];
    copy[cornerOf(copy, a)] = middle;
    triangles_[t][cornerOf(triangles_[t], b)] = middle;
    triangles_.push_back(copy);
    materials_.push_back(materials_[t]);
    detach(t, b);
    around_[b].push_back(added);
    around_[corner].push_back(added);
    around_[middle].push_back(t);
    around_[middle].push_back(added);
    ++alive_triangles_;
  }
  return middle;
}

bool WorkMesh::canCollapse(Index gone, Index kept, const Vec3d& at) const {
  const Sides s = sides(gone, kept);
  if (!s.exists()) return false;
  std::vector<Index> near_gone, near_kept;
  neighbours(gone, near_gone);
  neighbours(kept, near_kept);
  std::size_t common = 0;
  for (const Index v : near_gone)
    common += std::find(near_kept.begin(), near_kept.end(), v) != near_kept.end();
  if (common != (s.boundary() ? 1u : 2u)) return false;
  // Corners opposite the edge lose a triangle; three is the least an inner vertex can have.
  for (const Index v : {s.left_corner, s.right_corner})
    if (v != kNone && around_[v].size() <= 3) return false;
  for (const Index moved : {gone, kept}) {
    for (const Index t : around_[moved]) {
      if (t == s.left || t == s.right) continue;
      const Triangle& f = triangles_[t];
      std::array<Vec3d, 3> p;
      for (int i = 0; i < 3; ++i) p[i] = f[i] == moved ? at : positions[f[i]];
      const Vec3d before = normal(t), after = triangleNormal(p[0], p[1], p[2]);
      if (after.dot(before) < 0.5 * after.norm() * before.norm()) return false;
    }
  }
  return true;
}

void WorkMesh::collapse(Index gone, Index kept, const Vec3d& at) {
  const Sides s = sides(gone, kept);
  for (const Index t : {s.left, s.right}) {
    if (t == kNone) continue;
    for (const Index v : triangles_[t]) detach(t, v);
    triangles_[t] = {kNone, kNone, kNone};
    --alive_triangles_;
  }
  for (const Index t : around_[gone]) {
    triangles_[t][cornerOf(triangles_[t], gone)] = kept;
    around_[kept].push_back(t);
  }
  around_[gone].clear();
  positions[kept] = at;
}

void WorkMesh::flip(const Sides& s, Index a, Index b) {
  const Index c = s.left_corner, d = s.right_corner;
  detach(s.left, b);
  detach(s.right, a);
  triangles_[s.left] = {c, a, d};
  triangles_[s.right] = {d, b, c};
  around_[d].push_back(s.left);
  around_[c].push_back(s.right);
}

}  // namespace derm::detail::cast
