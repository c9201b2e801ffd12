#include "deform/wrinkle_surface.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "derm/anim/skin.h"
#include "derm/base/disjoint_sets.h"
#include "derm/mesh/weld.h"

namespace derm::detail {
namespace {

/// Points of the finest triangles per segment of the control curve: fewer cut the crests off, or
/// show as dashes on them.
constexpr double kPointsPerSegment = 3;
/// Normals further apart than this at both ends of an edge make it a hard one.
constexpr float kHardEdge = 1e-3f;

/// Edges whose two sides have normals of their own at both ends: artists' hard edges.
std::vector<std::array<std::uint32_t, 2>> hardEdges(const TriMesh& mesh,
                                                    std::span<const std::uint32_t> weld) {
  // Few places have several normals: all other edges are passed over.
  std::vector<std::uint8_t> splits(mesh.vertexCount(), 0);
  for (std::uint32_t v = 0; v < splits.size(); ++v)
    if ((mesh.normals[v] - mesh.normals[weld[v]]).norm() > kHardEdge / 2) splits[weld[v]] = 1;
  // The vertices of each welded edge.
  std::map<std::array<std::uint32_t, 2>, std::array<std::uint32_t, 2>> seen;
  std::vector<std::array<std::uint32_t, 2>> out;
  const auto differ = [&](std::uint32_t a, std::uint32_t b) {
    return (mesh.normals[a] - mesh.normals[b]).norm() > kHardEdge;
  };
  for (const Triangle& t : mesh.triangles)
    for (int i = 0; i < 3; ++i) {
      std::uint32_t a = t[i], b = t[(i + 1) % 3];
      if (splits[weld[a]] == 0 || splits[weld[b]] == 0) continue;
      if (weld[a] > weld[b]) std::swap(a, b);
      const auto [at, first] = seen.try_emplace({weld[a], weld[b]}, std::array{a, b});
      if (!first && differ(at->second[0], a) && differ(at->second[1], b)) out.push_back({a, b});
    }
  return out;
}

void noteOddTriangles(const WrinkleToolDesc& desc, const PlacedTool& tool,
                      std::span<const Triangle> welded, Diagnostics& notes) {
  std::map<std::array<std::uint32_t, 2>, int> uses;
  for (const std::uint32_t t : tool.triangles()) {
    const Triangle& p = welded[t];
    if (p[0] == p[1] || p[1] == p[2] || p[2] == p[0]) {
      notes.warn("wrinkles-degenerate", desc.name,
                 "a triangle under the tool has two corners at one place and is not cut", t);
      continue;
    }
    for (int i = 0; i < 3; ++i)
      if (++uses[{std::min(p[i], p[(i + 1) % 3]), std::max(p[i], p[(i + 1) % 3])}] == 3)
        notes.warn("wrinkles-non-manifold", desc.name,
                   "more than two triangles under the tool share an edge; it is kept as a crease",
                   t);
  }
}

/// The levels that the tools ask for, triangle by triangle.
std::vector<std::uint8_t> wantedLevels(const WrinklesDesc& desc, std::span<const FoldCurve> curves,
                                       std::span<const PlacedTool> tools,
                                       std::span<const ToolSurface> surfaces,
                                       std::span<const Triangle> triangles, Diagnostics& notes) {
  std::vector<std::uint8_t> levels(triangles.size(), 0);
  for (std::size_t k = 0; k < tools.size(); ++k) {
    const double segment =
        tools[k].definedLength() / static_cast<double>(curves[k].pointCount() - 1);
    double coarsest = 0;
    for (const std::uint32_t t : tools[k].triangles()) {
      const double extent = tools[k].extentAlong(triangles[t], surfaces[k].positions);
      const double cuts = std::ceil(std::log2(std::max(1.0, kPointsPerSegment * extent / segment)));
      const auto level = static_cast<std::uint8_t>(std::min<double>(cuts, desc.tools[k].subdivide));
      levels[t] = std::max(levels[t], level);
      coarsest = std::max(coarsest, std::ldexp(extent, -int(level)));
    }
    // A mean triangle of twice the segment shows every second bump at most.
    if (coarsest > 2 * segment)
      notes.warn("wrinkles-too-fine", desc.tools[k].name,
                 "the curve has a point every " + std::to_string(1000 * segment) +
                     " mm, but the finest triangles are up to " + std::to_string(1000 * coarsest) +
                     " mm long: raise subdivide or take fewer points");
  }
  return levels;
}

/// Triangles that must be handled together, because vertices of one count in normals of the other.
std::vector<std::vector<std::uint32_t>> clusters(std::span<const Triangle> welded,
                                                 std::span<const std::uint8_t> touched,
                                                 std::size_t vertex_count) {
  std::vector<std::uint8_t> inside(vertex_count, 0);
  for (std::size_t t = 0; t < welded.size(); ++t)
    if (touched[t] != 0)
      for (const std::uint32_t p : welded[t]) inside[p] = 1;
  DisjointSets sets(vertex_count);
  for (const Triangle& t : welded)
    for (int i = 0; i < 3; ++i) {
      const std::uint32_t a = t[i], b = t[(i + 1) % 3];
      if (inside[a] != 0 && inside[b] != 0) sets.unite(a, b);
    }
  std::map<std::uint32_t, std::vector<std::uint32_t>> out;
  for (std::uint32_t t = 0; t < welded.size(); ++t)
    if (touched[t] != 0) out[sets.rootOf(welded[t][0])].push_back(t);
  std::vector<std::vector<std::uint32_t>> lists;
  for (auto& [first, triangles] : out) lists.push_back(std::move(triangles));
  return lists;
}

/// Appends to a stream the means of the new vertices' ends.
template <class T>
void appendMeans(std::vector<T>& stream, const WrinklePatch& patch, std::size_t base_count) {
  if (stream.empty()) return;
  for (const MiddleVertex& v : patch.refinement().vertices)
    stream.push_back((stream[patch.globalVertex(v.a, base_count)] +
                      stream[patch.globalVertex(v.b, base_count)]) /
                     2);
}

void refineGroups(TriMesh& fine, std::span<const WrinklePatch> patches, std::size_t base_count) {
  std::vector<float> strength;
  for (VertexGroup& group : fine.groups) {
    strength.assign(fine.vertexCount(), 0.0f);
    for (std::size_t i = 0; i < group.vertices.size(); ++i)
      strength[group.vertices[i]] = group.strengths[i];
    // Added vertices come after all others, in order.
    for (const WrinklePatch& patch : patches)
      for (std::size_t i = 0; i < patch.refinement().vertices.size(); ++i) {
        const MiddleVertex& v = patch.refinement().vertices[i];
        const float mean = (strength[patch.globalVertex(v.a, base_count)] +
                            strength[patch.globalVertex(v.b, base_count)]) /
                           2;
        if (!(mean > 0)) continue;
        const std::uint32_t added = patch.firstNew() + static_cast<std::uint32_t>(i);
        strength[added] = mean;
        group.vertices.push_back(added);
        group.strengths.push_back(mean);
      }
  }
}

/// The skin's own rows stay as they are.
Skin refinedSkin(const Skin& skin, std::span<const WrinklePatch> patches, std::size_t base_count,
                 Diagnostics& notes) {
  if (skin.empty()) return {};
  std::size_t added = 0;
  for (const WrinklePatch& patch : patches) added += patch.refinement().vertices.size();
  std::vector<std::vector<Influence>> rows(added);
  const auto row = [&](std::uint32_t v) {
    return v < base_count ? skin[v] : std::span<const Influence>(rows[v - base_count]);
  };
  for (const WrinklePatch& patch : patches)
    for (std::size_t i = 0; i < patch.refinement().vertices.size(); ++i) {
      const MiddleVertex& v = patch.refinement().vertices[i];
      std::map<std::uint32_t, float> sum;
      for (const std::uint32_t end :
           {patch.globalVertex(v.a, base_count), patch.globalVertex(v.b, base_count)})
        for (const Influence& in : row(end)) sum[in.slot] += in.weight / 2;
      for (const auto& [slot, weight] : sum)
        rows[patch.firstNew() + i - base_count].push_back({slot, weight});
    }
  SkinBuilder builder(skin.slots, added);
  for (auto& each : rows) builder.addVertex(each, 0, "wrinkles", notes);
  const Skin more = std::move(builder).finish();
  Skin out = skin;
  const std::uint32_t first = out.offsets.back();
  out.influences.insert(out.influences.end(), more.influences.begin(), more.influences.end());
  for (std::size_t v = 1; v < more.offsets.size(); ++v)
    out.offsets.push_back(first + more.offsets[v]);
  return out;
}

std::shared_ptr<const BoundSurface> refinedSurface(const WrinkleSurface& surface,
                                                   Diagnostics& notes) {
  const TriMesh& rest = surface.input->rest;
  const std::size_t base_count = rest.vertexCount();
  TriMesh fine = rest;
  fine.triangles.clear();
  std::vector<std::uint32_t> sources;
  const auto source = [&](std::uint32_t t) {
    return surface.input->source_triangles.empty() ? t : surface.input->source_triangles[t];
  };
  for (const std::uint32_t t : surface.outside) {
    fine.triangles.push_back(rest.triangles[t]);
    sources.push_back(source(t));
  }
  for (const WrinklePatch& patch : surface.patches) {
    appendMeans(fine.positions, patch, base_count);
    appendMeans(fine.normals, patch, base_count);
    appendMeans(fine.tangents, patch, base_count);
    appendMeans(fine.uvs, patch, base_count);
    appendMeans(fine.colours, patch, base_count);
    for (std::size_t i = 0; i < patch.refinement().triangles.size(); ++i) {
      Triangle t = patch.refinement().triangles[i];
      for (std::uint32_t& v : t) v = patch.globalVertex(v, base_count);
      fine.triangles.push_back(t);
      sources.push_back(source(patch.refinement().sources[i]));
    }
    // The means of unit vectors are shorter: made unit patch by patch, level by level.
    for (std::size_t v = patch.firstNew(); v < patch.endNew(); ++v) {
      const MiddleVertex& m = patch.refinement().vertices[v - patch.firstNew()];
      const std::uint32_t a = patch.globalVertex(m.a, base_count);
      const std::uint32_t b = patch.globalVertex(m.b, base_count);
      const Vec3f sum = fine.normals[a] + fine.normals[b];
      fine.normals[v] = sum.norm() > 1e-6f ? Vec3f(sum.normalized()) : fine.normals[a];
      if (fine.tangents.empty()) continue;
      const Vec3f along = fine.tangents[a].head<3>() + fine.tangents[b].head<3>();
      const Vec3f flat = along - fine.normals[v] * fine.normals[v].dot(along);
      fine.tangents[v] = fine.tangents[a];
      if (flat.norm() > 1e-6f) fine.tangents[v].head<3>() = flat.normalized();
    }
  }
  refineGroups(fine, surface.patches, base_count);
  Skin skin = refinedSkin(surface.input->skin, surface.patches, base_count, notes);
  return std::make_shared<const BoundSurface>(std::move(fine), std::move(skin), std::move(sources));
}

/// The surface in the pose of a tool, from another tool that has it or from before.
Result<std::shared_ptr<const PosedSurface>> poseOf(
    const WrinklesDesc& desc, std::size_t tool, const Character& character,
    const BoundSurface& bound, std::span<const std::shared_ptr<const PosedSurface>> known,
    const LaidTools* before) {
  const WrinkleToolDesc& wanted = desc.tools[tool];
  std::shared_ptr<const PosedSurface> found;
  for (std::size_t k = 0; before != nullptr && k < before->desc.tools.size(); ++k)
    if (before->desc.tools[k].defined_at == wanted.defined_at) found = before->surface.poses[k];
  for (std::size_t k = 0; k < tool; ++k)
    if (desc.tools[k].defined_at == wanted.defined_at) found = known[k];
  if (found != nullptr && (found->tree || !followsSurface(wanted))) return found;
  PosedSurface made;
  if (found != nullptr) {
    made = *found;
  } else {
    DERM_TRY(made, posedSurface(wanted, character, bound));
  }
  if (followsSurface(wanted)) made.tree.emplace(made.positions, bound.rest.triangles);
  return std::make_shared<const PosedSurface>(std::move(made));
}

/// Whether a tool lies where the other does.
bool sameRectangle(const WrinkleToolDesc& a, const WrinkleToolDesc& b) {
  return a.path == b.path && a.width_m == b.width_m && a.defined_at == b.defined_at;
}

/// The patch of the same triangles under the same tools; null where there was none.
const WrinklePatch* samePatch(const PatchArea& area, std::span<const WrinklePatch::Tool> tools,
                              const WrinklesDesc& desc, const LaidTools* before) {
  if (before == nullptr) return nullptr;
  const WrinkleSurface& surface = before->surface;
  const auto at = std::find(surface.areas.begin(), surface.areas.end(), area);
  if (at == surface.areas.end()) return nullptr;
  const WrinklePatch& there = surface.patches[static_cast<std::size_t>(at - surface.areas.begin())];
  const bool same = std::equal(
      tools.begin(), tools.end(), there.tools().begin(), there.tools().end(),
      [&](const WrinklePatch::Tool& tool, std::uint32_t old) {
        return tool.index == old && sameRectangle(before->desc.tools[old], desc.tools[tool.index]);
      });
  return same ? &there : nullptr;
}

/// Adds a tool, and its line with as many segments as its curve has.
Result<void> layTool(const WrinkleToolDesc& desc, const FoldCurve& curve,
                     const ToolSurface& surface, const PosedSurface& pose, const LaidTools* before,
                     WrinkleSurface& out, Diagnostics& notes) {
  const PlacedTool* there = nullptr;
  for (std::size_t k = 0; before != nullptr && k < before->desc.tools.size(); ++k)
    if (sameRectangle(before->desc.tools[k], desc)) there = &before->surface.tools[k];
  if (there != nullptr) {
    out.tools.push_back(*there);
  } else {
    DERM_TRY(PlacedTool tool, PlacedTool::place(desc, surface, notes));
    noteOddTriangles(desc, tool, surface.welded, notes);
    out.tools.push_back(std::move(tool));
  }
  const std::size_t segments = static_cast<std::size_t>(curve.desc().points) - 1;
  out.lines.emplace_back(out.tools.back().pointsOnCurve(segments * SkinLine::kSteps + 1, surface));
  // As frames have positions, so that at rest nothing is lost.
  out.rest_segments.emplace_back(segments);
  out.lines.back().measure(pose.frame_positions, out.rest_segments.back());
  out.rest_chords.push_back(out.lines.back().chord(pose.frame_positions));
  return {};
}

}  // namespace

FoldableSurface::FoldableSurface(std::shared_ptr<const BoundSurface> surface)
    : bound(std::move(surface)),
      weld(weldMap(bound->rest.positions)),
      welded(mapped(bound->rest.triangles, weld)),
      around(vertexTriangles(welded, weld.size())),
      pieces(connectedPieces(welded, weld.size())),
      refinable(bound->rest.triangles, weld.size(), weld, hardEdges(bound->rest, weld)) {}

Result<WrinkleSurface> makeWrinkleSurface(const WrinklesDesc& desc,
                                          std::span<const FoldCurve> curves,
                                          const Character& character,
                                          const std::shared_ptr<const BoundSurface>& bound,
                                          const LaidTools* before, Diagnostics& notes) {
  const TriMesh& rest = bound->rest;
  if (rest.normals.empty() && rest.vertexCount() > 0)
    return Error{ErrorCode::BadData, "folds need normals", {.element = desc.name}};
  for (const WrinkleToolDesc& tool : desc.tools) DERM_CHECK(checkNumbers(tool));
  WrinkleSurface out;
  out.input = bound;
  out.foldable =
      before != nullptr ? before->surface.foldable : std::make_shared<const FoldableSurface>(bound);
  DERM_REQUIRE(out.foldable->bound == bound);
  const std::vector<Triangle>& welded = out.foldable->welded;
  std::vector<ToolSurface> surfaces;
  for (std::size_t k = 0; k < desc.tools.size(); ++k) {
    DERM_TRY(auto pose, poseOf(desc, k, character, *bound, out.poses, before));
    out.poses.push_back(std::move(pose));
    surfaces.emplace_back(*out.foldable, *out.poses.back());
    DERM_CHECK(
        layTool(desc.tools[k], curves[k], surfaces.back(), *out.poses.back(), before, out, notes));
  }
  const RefinableSurface& refinable = out.foldable->refinable;
  const std::vector<std::uint8_t> levels =
      refinable.balanced(wantedLevels(desc, curves, out.tools, surfaces, rest.triangles, notes));
  std::vector<std::uint8_t> touched = refinable.touched(levels);
  for (const PlacedTool& tool : out.tools)
    for (const std::uint32_t t : tool.triangles()) touched[t] = 1;

  auto next = static_cast<std::uint32_t>(rest.vertexCount());
  std::vector<std::uint8_t> cut(rest.triangles.size(), 0);
  out.influence_counts.assign(out.tools.size(), 0);
  for (const auto& triangles : clusters(welded, touched, rest.vertexCount())) {
    std::vector<WrinklePatch::Tool> tools;
    for (std::uint32_t k = 0; k < out.tools.size(); ++k)
      if (std::any_of(triangles.begin(), triangles.end(), [&](std::uint32_t t) {
            return std::binary_search(out.tools[k].triangles().begin(),
                                      out.tools[k].triangles().end(), t);
          }))
        tools.push_back({k, &out.tools[k], &surfaces[k]});
    PatchArea area{.triangles = triangles, .levels = {}};
    for (const std::uint32_t t : triangles) area.levels.push_back(levels[t]);
    if (const WrinklePatch* there = samePatch(area, tools, desc, before)) {
      out.patches.push_back(*there);
      out.patches.back().renumber(next);
    } else {
      out.patches.emplace_back(refinable, *bound, out.foldable->weld, levels, triangles, tools,
                               next);
    }
    out.areas.push_back(std::move(area));
    WrinklePatch& patch = out.patches.back();
    next = patch.endNew();
    for (WrinklePatch::Influence& in : patch.influences())
      in.ordinal = static_cast<std::uint32_t>(out.influence_counts[in.tool]++);
    for (const std::uint32_t t : patch.refinement().replaced) cut[t] = 1;
  }
  for (std::uint32_t t = 0; t < cut.size(); ++t)
    if (cut[t] == 0) out.outside.push_back(t);
  if (next > rest.vertexCount()) out.refined = refinedSurface(out, notes);
  return out;
}

}  // namespace derm::detail
