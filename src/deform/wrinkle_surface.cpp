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
  // The vertices of each welded edge.
  std::map<std::array<std::uint32_t, 2>, std::array<std::uint32_t, 2>> seen;
  std::vector<std::array<std::uint32_t, 2>> out;
  const auto differ = [&](std::uint32_t a, std::uint32_t b) {
    return (mesh.normals[a] - mesh.normals[b]).norm() > kHardEdge;
  };
  for (const Triangle& t : mesh.triangles)
    for (int i = 0; i < 3; ++i) {
      std::uint32_t a = t[i], b = t[(i + 1) % 3];
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
  for (VertexGroup& group : fine.groups) {
    std::map<std::uint32_t, float> strength;
    for (std::size_t i = 0; i < group.vertices.size(); ++i)
      strength[group.vertices[i]] = group.strengths[i];
    const auto of = [&](std::uint32_t v) {
      const auto at = strength.find(v);
      return at == strength.end() ? 0.0f : at->second;
    };
    for (const WrinklePatch& patch : patches)
      for (std::size_t i = 0; i < patch.refinement().vertices.size(); ++i) {
        const MiddleVertex& v = patch.refinement().vertices[i];
        const float mean =
            (of(patch.globalVertex(v.a, base_count)) + of(patch.globalVertex(v.b, base_count))) / 2;
        if (mean > 0) strength[patch.firstNew() + static_cast<std::uint32_t>(i)] = mean;
      }
    group.vertices.clear();
    group.strengths.clear();
    for (const auto& [v, s] : strength) {
      group.vertices.push_back(v);
      group.strengths.push_back(s);
    }
  }
}

Skin refinedSkin(const Skin& skin, std::span<const WrinklePatch> patches, std::size_t base_count,
                 Diagnostics& notes) {
  if (skin.empty()) return {};
  std::size_t count = base_count;
  for (const WrinklePatch& patch : patches) count += patch.refinement().vertices.size();
  SkinBuilder builder(skin.slots, count);
  std::vector<std::vector<Influence>> rows(count);
  for (std::size_t v = 0; v < base_count; ++v) rows[v].assign(skin[v].begin(), skin[v].end());
  for (const WrinklePatch& patch : patches)
    for (std::size_t i = 0; i < patch.refinement().vertices.size(); ++i) {
      const MiddleVertex& v = patch.refinement().vertices[i];
      std::map<std::uint32_t, float> sum;
      for (const std::uint32_t end :
           {patch.globalVertex(v.a, base_count), patch.globalVertex(v.b, base_count)})
        for (const Influence& in : rows[end]) sum[in.slot] += in.weight / 2;
      for (const auto& [slot, weight] : sum) rows[patch.firstNew() + i].push_back({slot, weight});
    }
  for (auto& row : rows) builder.addVertex(row, 0, "wrinkles", notes);
  return std::move(builder).finish();
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

}  // namespace

Result<WrinkleSurface> makeWrinkleSurface(const WrinklesDesc& desc,
                                          std::span<const FoldCurve> curves,
                                          const Character& character,
                                          const std::shared_ptr<const BoundSurface>& bound,
                                          Diagnostics& notes) {
  const TriMesh& rest = bound->rest;
  if (rest.normals.empty() && rest.vertexCount() > 0)
    return Error{ErrorCode::BadData, "folds need normals", {.element = desc.name}};
  const std::vector<std::uint32_t> weld = weldMap(rest.positions);
  const std::vector<Triangle> welded = mapped(rest.triangles, weld);
  const Pieces pieces = connectedPieces(welded, rest.vertexCount());
  WrinkleSurface out;
  out.input = bound;
  std::vector<ToolSurface> surfaces;
  for (std::size_t k = 0; k < desc.tools.size(); ++k) {
    DERM_TRY(ToolSurface surface, toolSurface(desc.tools[k], character, *bound, weld, pieces));
    DERM_TRY(PlacedTool tool, PlacedTool::place(desc.tools[k], surface, notes));
    noteOddTriangles(desc.tools[k], tool, welded, notes);
    const std::size_t segments = static_cast<std::size_t>(curves[k].desc().points) - 1;
    out.lines.emplace_back(tool.pointsOnCurve(segments * SkinLine::kSteps + 1, surface));
    out.rest_segments.emplace_back(segments);
    std::vector<Vec3f> positions;  // as frames have them, so that at rest nothing is lost
    for (const Vec3d& p : surface.positions) positions.push_back(p.cast<float>());
    out.lines.back().measure(positions, out.rest_segments.back());
    out.rest_chords.push_back(out.lines.back().chord(positions));
    out.tools.push_back(std::move(tool));
    surfaces.push_back(std::move(surface));
  }
  const RefinableSurface refinable(rest.triangles, rest.vertexCount(), weld, hardEdges(rest, weld));
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
    out.patches.emplace_back(refinable, *bound, weld, levels, triangles, tools, next);
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
