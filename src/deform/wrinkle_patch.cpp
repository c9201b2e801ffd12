#include "deform/wrinkle_patch.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace derm::detail {
namespace {

/// Normals closer than this at one position belong to one smooth surface (as in NormalUpdate).
constexpr float kSameNormal = 1e-3f;
constexpr std::uint32_t kNone = 0xFFFFFFFFu;
/// Spans of a ring closer to parallel than this (sine) give no normal.
constexpr float kParallel = 0.3f;

/// Folds fade out where the skin below is folded over itself: its normal says little there and
/// flips from one instant to the next. Between these, of how far normals point the same way: 1 all
/// of them, 0 half against the others.
float agreement(float share) {
  constexpr float kLow = 0.3f, kHigh = 0.7f;
  const float x = std::clamp((share - kLow) / (kHigh - kLow), 0.0f, 1.0f);
  return x * x * (3 - 2 * x);
}

/// Height of a round or straight curve, and how steeply it climbs.
struct HeightAt {
  float height = 0;  ///< [m]
  float slope = 0;   ///< [m] per unit of `along`
};

HeightAt heightAt(std::span<const float> heights, float along, bool round) {
  const auto segments = static_cast<float>(heights.size() - 1);
  const float x = along * segments;
  const std::size_t left = std::min(static_cast<std::size_t>(x), heights.size() - 2);
  const float step = heights[left + 1] - heights[left];
  float share = x - static_cast<float>(left), slope = 1;
  if (round) {
    slope = share < 0.5f ? 4 * share : 4 * (1 - share);
    share = share < 0.5f ? 2 * share * share : 1 - 2 * (1 - share) * (1 - share);
  }
  return {heights[left] + share * step, slope * step * segments};
}

/// What a point takes of a fold by where it lies in the rectangle now.
float projectedHeight(const ToolRectangle& r, const Vec3f& position, const Vec3f& normal,
                      std::span<const float> heights, bool round) noexcept {
  const Vec3f d = position - r.from;
  const float x = d.dot(r.along) / r.length_m, z = d.dot(r.across) / r.half_width_m;
  if (!(x > 0 && x < 1 && std::abs(z) < 1) || !(normal.dot(r.up) > 0)) return 0;
  return static_cast<float>(foldFalloff(r.falloff, static_cast<double>(z))) *
         heightAt(heights, x, round).height;
}

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
  collectRings();
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
  std::vector<std::uint32_t> near, whole;
  for (std::uint32_t t = 0; t < all.size(); ++t) {
    if (std::none_of(all[t].begin(), all[t].end(),
                     [&](std::uint32_t v) { return inside[weld[v]] != 0; }))
      continue;
    near.push_back(t);
    if (!std::binary_search(refinement_.replaced.begin(), refinement_.replaced.end(), t))
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
  std::vector<std::uint8_t> own_inside;
  for (const std::uint32_t v : own_) own_inside.push_back(inside[weld[v]]);
  collectUncutFans(bound, own_inside, near);
}

void WrinklePatch::collectUncutFans(const BoundSurface& bound, std::span<const std::uint8_t> inside,
                                    std::span<const std::uint32_t> near) {
  const std::size_t base_count = bound.rest.vertexCount();
  std::map<std::uint32_t, std::vector<std::uint32_t>> round;  // slot: faces
  for (const std::uint32_t t : near) {
    Triangle face;
    for (std::size_t c = 0; c < 3; ++c)
      face[c] = slots_[localOf(bound.rest.triangles[t][c], base_count)];
    for (const std::uint32_t s : face)
      round[s].push_back(static_cast<std::uint32_t>(uncut_faces_.size()));
    uncut_faces_.push_back(face);
  }
  std::vector<std::vector<std::uint32_t>> fans(own_.size());
  std::vector<Vec3f> rest(refinement_.stencils.slotCount() + extra_sources_.size() + 1,
                          Vec3f::Zero());
  for (std::size_t i = 0; i < own_.size(); ++i) {
    if (inside[i] != 0) fans[i] = round[slots_[i]];
    rest[slots_[i]] = bound.rest.positions[own_[i]];
  }
  uncut_fans_ = listsOf(fans);
  rest_spread_.assign(own_.size(), 1.0f);
  for (std::size_t i = 0; i < own_.size(); ++i)
    rest_spread_[i] = static_cast<float>(spread(i, rest));
}

void WrinklePatch::collectInfluences(std::span<const Tool> tools) {
  const std::size_t slot_count = refinement_.stencils.slotCount() + extra_sources_.size();
  std::vector<std::vector<Influence>> of_slot(slot_count);
  for (const Tool& tool : tools) {
    // On the smooth surface: on the flat triangles that were cut, folds would have a kink at each
    // of their edges.
    std::vector<Vec3f> vertices, places(slot_count + 1, Vec3f::Zero());
    for (const Vec3d& p : tool.surface->positions) vertices.push_back(p.cast<float>());
    const ButterflyStencils& stencils = refinement_.stencils;
    const std::span<Vec3f> cut = std::span(places).first(stencils.slotCount() + 1);
    stencils.gather(vertices, cut);
    stencils.evaluate(1, cut);
    for (std::size_t i = 0; i < extra_sources_.size(); ++i)
      places[stencils.slotCount() + i] = vertices[extra_sources_[i]];
    std::vector<Vec3d> normals;
    for (const std::uint32_t v : own_) normals.push_back(tool.surface->normals[v]);
    for (const auto& [a, b] : parents_) {
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
    std::vector<std::uint8_t> found(slot_count, 0);
    for (std::uint32_t v = 0; v < slots_.size(); ++v) {
      if (under[v] == 0) continue;
      slot_normals[slots_[v]] += normals[v];
      found[slots_[v]] = 1;
    }
    for (std::size_t s = 0; s < slot_count; ++s) {
      if (found[s] == 0 || !(slot_normals[s].norm() > 1e-12)) continue;
      const auto at = tool.placed->project(places[s].cast<double>(), slot_normals[s].normalized());
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
  for (const std::vector<std::uint32_t>& group : turning_members) {
    const std::uint32_t slot = slots_[group.front()];
    const auto at = std::lower_bound(raised_.begin(), raised_.end(), slot);
    const bool alone = groups_at[slot].size() == 1;  // no hard edge
    fan_raised_.push_back(alone && at != raised_.end() && *at == slot
                              ? static_cast<std::uint32_t>(at - raised_.begin())
                              : kNone);
  }
}

void WrinklePatch::collectRings() {
  std::map<std::uint32_t, std::vector<std::uint32_t>> around;  // slot: its neighbours
  for (std::size_t f = 0; f < moving_faces_; ++f)
    for (std::size_t c = 0; c < 3; ++c)
      for (const std::size_t other : {(c + 1) % 3, (c + 2) % 3})
        around[faces_[f][c]].push_back(faces_[f][other]);
  const auto influenceOf = [&](std::uint32_t slot, std::uint32_t tool) {
    const auto at = std::lower_bound(raised_.begin(), raised_.end(), slot);
    if (at == raised_.end() || *at != slot) return kNone;
    const auto i = static_cast<std::size_t>(at - raised_.begin());
    for (std::uint32_t k = influence_offsets_[i]; k < influence_offsets_[i + 1]; ++k)
      if (influences_[k].tool == tool) return k;
    return kNone;
  };
  rings_.resize(raised_.size());
  influence_rings_.resize(influences_.size());
  for (std::size_t i = 0; i < raised_.size(); ++i) {
    const std::vector<std::uint32_t>& near = around[raised_[i]];
    const std::uint32_t first = influence_offsets_[i], end = influence_offsets_[i + 1];
    const bool whole = std::all_of(near.begin(), near.end(), [&](std::uint32_t slot) {
      for (std::uint32_t k = first; k < end; ++k)
        if (influenceOf(slot, influences_[k].tool) == kNone) return false;
      return true;
    });
    if (!whole || near.size() < 3) continue;
    const std::uint32_t tool = influences_[first].tool;
    const auto place = [&](std::uint32_t slot) {
      const Influence& at = influences_[influenceOf(slot, tool)];
      return Vec2f(at.along, at.across);
    };
    Ring& ring = rings_[i];
    std::array<Vec2f, 2> ways;
    for (int axis = 0; axis < 2; ++axis) {
      const auto [low, high] = std::minmax_element(
          near.begin(), near.end(),
          [&](std::uint32_t a, std::uint32_t b) { return place(a)[axis] < place(b)[axis]; });
      ring.spans[static_cast<std::size_t>(axis)] = {*low, *high};
      ways[static_cast<std::size_t>(axis)] = place(*high) - place(*low);
    }
    const float area = ways[0].x() * ways[1].y() - ways[0].y() * ways[1].x();
    ring.whole = std::abs(area) > kParallel * ways[0].norm() * ways[1].norm();
    for (std::uint32_t k = first; ring.whole && k < end; ++k)
      for (std::size_t s = 0; s < 2; ++s)
        for (std::size_t e = 0; e < 2; ++e)
          influence_rings_[k].spans[s][e] = influenceOf(ring.spans[s][e], influences_[k].tool);
  }
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
  grow(scratch.climbs, raised_.size());
  if (scratch.shown.size() < slots_.size()) scratch.shown.resize(slots_.size(), 1.0f);
  grow(scratch.faces_before, faces_.size());
  grow(scratch.faces_after, faces_.size());
}

void WrinklePatch::interpolateNormals(std::span<const Vec3f> normals,
                                      PatchScratch& scratch) const noexcept {
  for (std::size_t i = 0; i < own_.size(); ++i) scratch.normals[i] = wide(normals[own_[i]]);
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const double share = spread(i, scratch.before);
    scratch.shown[i] = share < double{rest_spread_[i]}
                           ? agreement(static_cast<float>(share) / rest_spread_[i])
                           : 1;
  }
  Vec4f* out = scratch.normals.data() + own_.size();
  float* shown = scratch.shown.data() + own_.size();
  for (const auto& [a, b] : parents_) {
    const Vec4f sum = scratch.normals[a] + scratch.normals[b];
    const float length2 = sum.squaredNorm();
    *out++ = length2 > 1e-12f ? Vec4f(sum / std::sqrt(length2)) : scratch.normals[a];
    *shown++ = std::min({scratch.shown[a], scratch.shown[b], agreement(std::sqrt(length2) / 2)});
  }
}

/// [0,1] how far the triangles round a vertex of the surface face the same way. The uncut ones: of
/// those that were cut, slivers in a crease, faces are mostly rounding.
double WrinklePatch::spread(std::size_t own, std::span<const Vec3f> positions) const noexcept {
  Vec3d sum = Vec3d::Zero();  // in double: areas of small characters squared leave float's range
  double area = 0;
  for (const std::uint32_t f : uncut_fans_[own]) {
    const Triangle& t = uncut_faces_[f];
    const Vec3d face =
        faceVector(positions[t[0]], positions[t[1]], positions[t[2]]).head<3>().cast<double>();
    sum += face;
    area += face.norm();
  }
  if (uncut_fans_[own].empty()) return 1;
  return area > 0 ? sum.norm() / area : 0;
}

/// Moves slots along their normals; false where nothing moved.
bool WrinklePatch::raise(const PatchInput& in, PatchScratch& scratch) const noexcept {
  bool any = false;
  for (std::size_t i = 0; i < raised_.size(); ++i) {
    float elevation = 0;
    Vec2f& climb = scratch.climbs[i];
    climb.setZero();
    for (std::uint32_t k = influence_offsets_[i]; k < influence_offsets_[i + 1]; ++k) {
      const Influence& at = influences_[k];
      const std::span<const float> heights = in.curves[at.tool];
      if (heights.empty()) continue;
      const std::vector<float>& falloffs = in.falloffs[at.tool];
      if (in.rectangles[at.tool].on) {
        const Vec4f& n = scratch.normals[raised_members_[i][0]];
        elevation += projectedHeight(in.rectangles[at.tool], scratch.before[raised_[i]],
                                     Vec3f(n.head<3>()), heights, in.round[at.tool] != 0);
        continue;
      }
      const HeightAt curve = heightAt(heights, at.along, in.round[at.tool] != 0);
      elevation += falloffs[at.ordinal] * curve.height;
      if (!rings_[i].whole) continue;
      for (std::size_t s = 0; s < 2; ++s) {
        const auto& span = influence_rings_[k].spans[s];
        const Influence &low = influences_[span[0]], &high = influences_[span[1]];
        climb[static_cast<Eigen::Index>(s)] +=
            falloffs[at.ordinal] * curve.slope * (high.along - low.along) +
            curve.height * (falloffs[high.ordinal] - falloffs[low.ordinal]);
      }
    }
    if (elevation == 0) continue;
    any = true;
    const std::span<const std::uint32_t> members = raised_members_[i];
    float shown = 1;
    for (const std::uint32_t v : members) shown = std::min(shown, scratch.shown[v]);
    elevation *= shown;
    climb *= shown;
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

/// Whether the folds at a raised slot have a slope of their own: round, and not at their border.
bool WrinklePatch::hasSmoothFolds(std::size_t raised, const PatchInput& in) const noexcept {
  if (!rings_[raised].whole) return false;
  for (std::uint32_t k = influence_offsets_[raised]; k < influence_offsets_[raised + 1]; ++k)
    if (in.round[influences_[k].tool] == 0 || in.rectangles[influences_[k].tool].on) return false;
  return true;
}

/// Round folds are turned by the slope of their curve: that of their triangles, which lie as the
/// mesh has them, would show as dashes on the crests.
void WrinklePatch::turnNormals(const PatchInput& in, PatchScratch& scratch) const noexcept {
  for (std::size_t f = 0; f < faces_.size(); ++f) {
    const Triangle& t = faces_[f];
    scratch.faces_after[f] =
        f < moving_faces_
            ? faceVector(scratch.after[t[0]], scratch.after[t[1]], scratch.after[t[2]])
            : scratch.faces_before[f];
  }
  for (std::size_t g = 0; g < fans_.rowCount(); ++g) {
    Vec3f from, to;
    if (const std::uint32_t r = fan_raised_[g]; r != kNone && hasSmoothFolds(r, in)) {
      const Vec3f up = scratch.normals[fan_members_[g].front()].head<3>();
      const auto& spans = rings_[r].spans;
      const Vec3f a = scratch.before[spans[0][1]] - scratch.before[spans[0][0]];
      const Vec3f b = scratch.before[spans[1][1]] - scratch.before[spans[1][0]];
      from = a.cross(b);
      to = Vec3f(a + scratch.climbs[r].x() * up).cross(Vec3f(b + scratch.climbs[r].y() * up));
    } else {
      Vec4f before = Vec4f::Zero(), after = Vec4f::Zero();
      for (const std::uint32_t f : fans_[g]) {
        before += scratch.faces_before[f];
        after += scratch.faces_after[f];
      }
      from = before.head<3>();
      to = after.head<3>();
    }
    if (from == to) continue;
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
    for (std::size_t f = 0; f < faces_.size(); ++f) {
      const Triangle& t = faces_[f];
      scratch.faces_before[f] =
          faceVector(scratch.before[t[0]], scratch.before[t[1]], scratch.before[t[2]]);
    }
    raised = raise(in, scratch);
    if (raised) turnNormals(in, scratch);
  }
  write(raised, scratch, streams);
}

}  // namespace derm::detail
