#include "deform/wrinkle_patch.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace derm::detail {
namespace {

/// Normals closer than this at one position belong to one smooth surface (as in NormalUpdate).
constexpr float kSameNormal = 1e-3f;

Vec4f wide(const Vec3f& v) { return Vec4f(v.x(), v.y(), v.z(), 0); }

Vec3f unitOr(const Vec3f& v, const Vec3f& otherwise) {
  const float length = v.norm();
  return length > 1e-12f ? Vec3f(v / length) : otherwise;
}

Vec4f faceVector(const Vec3f& a, const Vec3f& b, const Vec3f& c) {
  const float ux = b[0] - a[0], uy = b[1] - a[1], uz = b[2] - a[2];
  const float vx = c[0] - a[0], vy = c[1] - a[1], vz = c[2] - a[2];
  return Vec4f(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx, 0);
}

/// A unit vector turned by the smallest rotation that takes the direction `from` to `to`.
Vec3f turned(const Vec3f& v, const Vec3f& from, const Vec3f& to) {
  const float cosine = from.dot(to);
  if (cosine < -0.999f) return -v;  // half a turn: any axis does
  const Vec3f axis = from.cross(to);
  return unitOr(cosine * v + axis.cross(v) + axis * (axis.dot(v) / (1 + cosine)), v);
}

IndexLists listsOf(const std::vector<std::vector<std::uint32_t>>& rows) {
  IndexLists out;
  out.offsets.push_back(0);
  for (const auto& row : rows) {
    out.indices.insert(out.indices.end(), row.begin(), row.end());
    out.offsets.push_back(static_cast<std::uint32_t>(out.indices.size()));
  }
  return out;
}

}  // namespace

WrinklePatch::WrinklePatch(const RefinableSurface& surface, const BoundSurface& bound,
                           std::span<const std::uint32_t> weld,
                           std::span<const std::uint8_t> levels,
                           std::span<const std::uint32_t> triangles, std::span<const Tool> tools,
                           std::uint32_t first_new)
    : first_new_(first_new) {
  for (const Tool& tool : tools) tools_.push_back(tool.index);
  std::vector<std::uint8_t> own_levels(levels.size(), 0);
  for (const std::uint32_t t : triangles) own_levels[t] = levels[t];
  refinement_ = surface.refine(own_levels);
  collectVertices(bound, weld, triangles);
  collectInfluences(tools);
  sortMovingFacesFirst();
  collectFans(bound);
  face_source_.clear();
  face_vertices_.clear();
}

std::uint32_t WrinklePatch::localOf(std::uint32_t corner, std::size_t base_count) const {
  if (corner >= base_count) return static_cast<std::uint32_t>(own_.size() + (corner - base_count));
  return static_cast<std::uint32_t>(std::lower_bound(own_.begin(), own_.end(), corner) -
                                    own_.begin());
}

/// Faces are the cut triangles, the patch's other triangles and the ring round both: all that
/// normals inside depend on.
void WrinklePatch::collectVertices(const BoundSurface& bound, std::span<const std::uint32_t> weld,
                                   std::span<const std::uint32_t> triangles) {
  const std::size_t base_count = bound.rest.vertexCount();
  const std::vector<Triangle>& all = bound.rest.triangles;
  std::vector<std::uint8_t> inside(base_count, 0);
  for (const std::uint32_t t : triangles)
    for (const std::uint32_t v : all[t]) inside[weld[v]] = 1;
  std::vector<std::uint32_t> whole;
  for (std::uint32_t t = 0; t < all.size(); ++t) {
    const bool near = std::any_of(all[t].begin(), all[t].end(),
                                  [&](std::uint32_t v) { return inside[weld[v]] != 0; });
    if (near && !std::binary_search(refinement_.replaced.begin(), refinement_.replaced.end(), t))
      whole.push_back(t);
  }
  std::vector<Triangle> corners = refinement_.triangles;
  face_source_ = refinement_.sources;
  for (const std::uint32_t t : whole) corners.push_back(all[t]);
  face_source_.insert(face_source_.end(), whole.begin(), whole.end());
  for (const Triangle& t : corners)
    for (const std::uint32_t v : t)
      if (v < base_count) own_.push_back(v);
  std::sort(own_.begin(), own_.end());
  own_.erase(std::unique(own_.begin(), own_.end()), own_.end());

  const auto sources = refinement_.stencils.sources();
  std::map<std::uint32_t, std::uint32_t> extra;
  for (const std::uint32_t v : own_) {
    const std::uint32_t source = weld[v];
    const auto at = std::lower_bound(sources.begin(), sources.end(), source);
    if (at != sources.end() && *at == source) {
      slots_.push_back(static_cast<std::uint32_t>(at - sources.begin()));
      continue;
    }
    const auto next =
        static_cast<std::uint32_t>(refinement_.stencils.slotCount() + extra_sources_.size());
    const auto [slot, added] = extra.try_emplace(source, next);
    if (added) extra_sources_.push_back(source);
    slots_.push_back(slot->second);
  }
  for (const MiddleVertex& v : refinement_.vertices) {
    slots_.push_back(v.slot);
    parents_.push_back({localOf(v.a, base_count), localOf(v.b, base_count)});
  }
  for (Triangle& t : corners) {
    for (std::uint32_t& v : t) v = localOf(v, base_count);
    face_vertices_.push_back(t);
    faces_.push_back({slots_[t[0]], slots_[t[1]], slots_[t[2]]});
  }
}

void WrinklePatch::collectInfluences(std::span<const Tool> tools) {
  const std::size_t slot_count = refinement_.stencils.slotCount() + extra_sources_.size();
  std::vector<std::vector<Influence>> of_slot(slot_count);
  for (const Tool& tool : tools) {
    std::vector<Vec3d> positions, normals;
    for (const std::uint32_t v : own_) {
      positions.push_back(tool.surface->positions[v]);
      normals.push_back(tool.surface->normals[v]);
    }
    for (const auto& [a, b] : parents_) {
      positions.push_back((positions[a] + positions[b]) / 2);
      const Vec3d sum = normals[a] + normals[b];
      normals.push_back(sum.norm() > 1e-12 ? Vec3d(sum.normalized()) : normals[a]);
    }
    // Only what hangs together under the tool; one normal for all vertices of a slot.
    std::vector<std::uint8_t> under(slots_.size(), 0);
    for (std::size_t f = 0; f < face_vertices_.size(); ++f)
      if (std::binary_search(tool.placed->triangles().begin(), tool.placed->triangles().end(),
                             face_source_[f]))
        for (const std::uint32_t v : face_vertices_[f]) under[v] = 1;
    std::vector<Vec3d> slot_normals(slot_count, Vec3d::Zero());
    std::vector<std::uint32_t> first(slot_count, 0xFFFFFFFFu);
    for (std::uint32_t v = 0; v < slots_.size(); ++v) {
      if (under[v] == 0) continue;
      slot_normals[slots_[v]] += normals[v];
      first[slots_[v]] = std::min(first[slots_[v]], v);
    }
    for (std::size_t s = 0; s < slot_count; ++s) {
      if (first[s] == 0xFFFFFFFFu || !(slot_normals[s].norm() > 1e-12)) continue;
      const auto at = tool.placed->project(positions[first[s]], slot_normals[s].normalized());
      if (at)
        of_slot[s].push_back({.tool = tool.index,
                              .along = static_cast<float>(at->along),
                              .across = static_cast<float>(at->across),
                              .facing = static_cast<float>(at->facing)});
    }
  }
  std::vector<std::vector<std::uint32_t>> members(slot_count);
  for (std::uint32_t v = 0; v < slots_.size(); ++v) members[slots_[v]].push_back(v);
  std::vector<std::vector<std::uint32_t>> raised_members;
  influence_offsets_.push_back(0);
  for (std::uint32_t s = 0; s < slot_count; ++s) {
    if (of_slot[s].empty()) continue;
    raised_.push_back(s);
    raised_members.push_back(members[s]);
    influences_.insert(influences_.end(), of_slot[s].begin(), of_slot[s].end());
    influence_offsets_.push_back(static_cast<std::uint32_t>(influences_.size()));
  }
  raised_members_ = listsOf(raised_members);
}

void WrinklePatch::sortMovingFacesFirst() {
  const auto moves = [&](std::size_t f) {
    return std::any_of(faces_[f].begin(), faces_[f].end(), [&](std::uint32_t s) {
      return std::binary_search(raised_.begin(), raised_.end(), s);
    });
  };
  std::vector<std::uint32_t> order;
  for (const bool wanted : {true, false})
    for (std::uint32_t f = 0; f < faces_.size(); ++f)
      if (moves(f) == wanted) order.push_back(f);
  std::vector<Triangle> faces, vertices;
  for (const std::uint32_t f : order) {
    moving_faces_ += moves(f);
    faces.push_back(faces_[f]);
    vertices.push_back(face_vertices_[f]);
  }
  faces_ = std::move(faces);
  face_vertices_ = std::move(vertices);
}

void WrinklePatch::collectFans(const BoundSurface& bound) {
  std::vector<Vec3f> normals;
  for (const std::uint32_t v : own_) normals.push_back(bound.rest.normals[v]);
  for (const auto& [a, b] : parents_)
    normals.push_back(unitOr(normals[a] + normals[b], normals[a]));
  // Groups: same slot, same normal at rest; only those with a moving face turn.
  std::vector<std::uint8_t> turns(slots_.size(), 0);
  for (std::size_t f = 0; f < moving_faces_; ++f)
    for (const std::uint32_t v : face_vertices_[f]) turns[v] = 1;
  std::map<std::uint32_t, std::vector<std::uint32_t>> groups_at;  // slot: groups
  std::vector<std::vector<std::uint32_t>> members;
  std::vector<std::uint32_t> group_of(slots_.size());
  for (std::uint32_t v = 0; v < slots_.size(); ++v) {
    std::vector<std::uint32_t>& here = groups_at[slots_[v]];
    const auto same = std::find_if(here.begin(), here.end(), [&](std::uint32_t g) {
      return (normals[members[g].front()] - normals[v]).norm() < kSameNormal;
    });
    if (same == here.end()) {
      group_of[v] = static_cast<std::uint32_t>(members.size());
      here.push_back(group_of[v]);
      members.push_back({v});
    } else {
      group_of[v] = *same;
      members[*same].push_back(v);
    }
  }
  std::vector<std::vector<std::uint32_t>> fans(members.size());
  for (std::uint32_t f = 0; f < faces_.size(); ++f) {
    const Triangle& t = face_vertices_[f];
    for (int c = 0; c < 3; ++c) {
      const std::uint32_t g = group_of[t[c]];
      if (fans[g].empty() || fans[g].back() != f) fans[g].push_back(f);
    }
  }
  std::vector<std::vector<std::uint32_t>> turning_members, turning_fans;
  for (std::size_t g = 0; g < members.size(); ++g) {
    if (std::none_of(members[g].begin(), members[g].end(), [&](auto v) { return turns[v] != 0; }))
      continue;
    turning_members.push_back(members[g]);
    turning_fans.push_back(fans[g]);
  }
  fan_members_ = listsOf(turning_members);
  fans_ = listsOf(turning_fans);
}

void WrinklePatch::writeMask(std::uint32_t tool, std::span<const float> falloffs,
                             std::span<float> values) const noexcept {
  for (std::size_t i = 0; i < raised_.size(); ++i) {
    float most = 0;
    for (std::uint32_t k = influence_offsets_[i]; k < influence_offsets_[i + 1]; ++k)
      if (influences_[k].tool == tool) most = std::max(most, falloffs[influences_[k].ordinal]);
    if (!(most > 0)) continue;
    for (const std::uint32_t local : raised_members_[i])
      if (const std::uint32_t v = globalOf(local); v < values.size())
        values[v] = std::max(values[v], most);
  }
}

void WrinklePatch::growScratch(PatchScratch& scratch) const {
  const std::size_t slot_count = refinement_.stencils.slotCount() + extra_sources_.size();
  const auto grow = [](auto& v, std::size_t n) {
    if (v.size() < n) v.resize(n, std::remove_reference_t<decltype(v[0])>::Zero());
  };
  grow(scratch.before, slot_count + 1);
  grow(scratch.after, slot_count + 1);
  grow(scratch.normals, slots_.size());
  grow(scratch.faces_before, faces_.size());
  grow(scratch.faces_after, faces_.size());
}

void WrinklePatch::interpolateNormals(std::span<const Vec3f> normals,
                                      PatchScratch& scratch) const noexcept {
  for (std::size_t i = 0; i < own_.size(); ++i) scratch.normals[i] = wide(normals[own_[i]]);
  Vec4f* out = scratch.normals.data() + own_.size();
  for (const auto& [a, b] : parents_) {
    const Vec4f sum = scratch.normals[a] + scratch.normals[b];
    const float length2 = sum.squaredNorm();
    *out++ = length2 > 1e-12f ? Vec4f(sum / std::sqrt(length2)) : scratch.normals[a];
  }
}

/// Moves slots along their normals; false where nothing moved.
bool WrinklePatch::raise(const PatchInput& in, PatchScratch& scratch) const noexcept {
  bool any = false;
  for (std::size_t i = 0; i < raised_.size(); ++i) {
    float elevation = 0;
    for (std::uint32_t k = influence_offsets_[i]; k < influence_offsets_[i + 1]; ++k) {
      const Influence& at = influences_[k];
      const std::span<const float> heights = in.curves[at.tool];
      if (heights.empty()) continue;
      const float x = at.along * static_cast<float>(heights.size() - 1);
      const std::size_t left = std::min(static_cast<std::size_t>(x), heights.size() - 2);
      float share = x - static_cast<float>(left);
      if (in.round[at.tool] != 0)
        share = share < 0.5f ? 2 * share * share : 1 - 2 * (1 - share) * (1 - share);
      elevation += in.falloffs[at.tool][at.ordinal] *
                   (heights[left] + share * (heights[left + 1] - heights[left]));
    }
    if (elevation == 0) continue;
    any = true;
    const std::span<const std::uint32_t> members = raised_members_[i];
    Vec4f normal = scratch.normals[members[0]];
    if (members.size() > 1) {
      for (std::size_t m = 1; m < members.size(); ++m) normal += scratch.normals[members[m]];
      const float length = normal.norm();
      if (!(length > 1e-6f)) continue;
      normal /= length;
    }
    scratch.after[raised_[i]] += elevation * normal.head<3>();
  }
  return any;
}

void WrinklePatch::turnNormals(PatchScratch& scratch) const noexcept {
  for (std::size_t f = 0; f < faces_.size(); ++f) {
    const Triangle& t = faces_[f];
    scratch.faces_before[f] =
        faceVector(scratch.before[t[0]], scratch.before[t[1]], scratch.before[t[2]]);
    scratch.faces_after[f] =
        f < moving_faces_
            ? faceVector(scratch.after[t[0]], scratch.after[t[1]], scratch.after[t[2]])
            : scratch.faces_before[f];
  }
  for (std::size_t g = 0; g < fans_.rowCount(); ++g) {
    Vec4f before = Vec4f::Zero(), after = Vec4f::Zero();
    for (const std::uint32_t f : fans_[g]) {
      before += scratch.faces_before[f];
      after += scratch.faces_after[f];
    }
    if (before == after) continue;
    const Vec3f from = before.head<3>(), to = after.head<3>();
    const float from_length = from.norm(), to_length = to.norm();
    if (!(from_length > 0 && to_length > 0)) continue;
    for (const std::uint32_t v : fan_members_[g]) {
      const Vec3f normal = scratch.normals[v].head<3>();
      scratch.normals[v] = wide(turned(normal, from / from_length, to / to_length));
    }
  }
}

void WrinklePatch::write(bool raised, const PatchScratch& scratch,
                         const SurfaceOutput& streams) const noexcept {
  const std::vector<Vec3f>& positions = raised ? scratch.after : scratch.before;
  if (raised) {
    for (std::size_t i = 0; i < raised_.size(); ++i) {
      const std::uint32_t s = raised_[i];
      if (scratch.after[s] == scratch.before[s]) continue;
      for (const std::uint32_t v : raised_members_[i])
        if (v < own_.size()) streams.positions[own_[v]] = positions[s];
    }
    for (const std::uint32_t v : fan_members_.indices)
      if (v < own_.size()) streams.normals[own_[v]] = scratch.normals[v].head<3>();
  }
  for (std::size_t i = 0; i < parents_.size(); ++i) {
    streams.positions[first_new_ + i] = positions[slots_[own_.size() + i]];
    streams.normals[first_new_ + i] = scratch.normals[own_.size() + i].head<3>();
  }
  if (streams.tangents.empty()) return;
  const auto global = [&](std::uint32_t v) {
    return v < own_.size() ? own_[v] : first_new_ + (v - static_cast<std::uint32_t>(own_.size()));
  };
  const auto flattened = [&](Vec4f tangent, const Vec3f& normal) {
    const Vec3f t = tangent.head<3>();
    tangent.head<3>() = unitOr(t - normal * normal.dot(t), t);
    return tangent;
  };
  for (std::size_t i = 0; i < parents_.size(); ++i) {
    const Vec4f& a = streams.tangents[global(parents_[i][0])];
    const Vec4f& b = streams.tangents[global(parents_[i][1])];
    Vec4f mean = a;
    mean.head<3>() += b.head<3>();
    streams.tangents[first_new_ + i] = flattened(mean, streams.normals[first_new_ + i]);
  }
  if (!raised) return;
  for (const std::uint32_t v : fan_members_.indices)
    if (v < own_.size())
      streams.tangents[own_[v]] = flattened(streams.tangents[own_[v]], streams.normals[own_[v]]);
}

void WrinklePatch::evaluate(const PatchInput& in, PatchScratch& scratch,
                            const SurfaceOutput& streams) const noexcept {
  const ButterflyStencils& stencils = refinement_.stencils;
  const std::span<Vec3f> slots = std::span(scratch.before).first(stencils.slotCount() + 1);
  stencils.gather(streams.positions, slots);
  stencils.evaluate(in.smoothing, slots);
  for (std::size_t i = 0; i < extra_sources_.size(); ++i)
    scratch.before[stencils.slotCount() + i] = streams.positions[extra_sources_[i]];
  interpolateNormals(streams.normals, scratch);
  bool raised = false;
  if (!in.curves.empty()) {
    std::copy_n(scratch.before.begin(), stencils.slotCount() + extra_sources_.size(),
                scratch.after.begin());
    raised = raise(in, scratch);
    if (raised) turnNormals(scratch);
  }
  write(raised, scratch, streams);
}

}  // namespace derm::detail
