#include "scene/cache_character.h"

#include <algorithm>
#include <string>
#include <utility>

#include "scene/refined_character.h"

namespace derm::detail {
namespace {

Character refinedStill(const Character& character, const BoundSurface& surface) {
  Character still = frozen(character, character.mesh);
  still.mesh = surface.rest;
  still.mesh.triangles.clear();
  const auto vertices = static_cast<std::uint32_t>(surface.rest.vertexCount());
  const std::vector<std::uint32_t> part_of = partOfTriangle(character);
  std::vector<std::vector<Triangle>> of_part(character.parts.size());
  std::vector<std::vector<std::uint32_t>> sources_of_part(character.parts.size());
  for (std::size_t t = 0; t < surface.rest.triangles.size(); ++t) {
    const std::size_t source = surface.source_triangles.empty() ? t : surface.source_triangles[t];
    // A layer that does not say where its triangles came from puts them into the first part.
    const std::size_t part = source < part_of.size() ? part_of[source] : 0;
    of_part[part].push_back(surface.rest.triangles[t]);
    sources_of_part[part].push_back(static_cast<std::uint32_t>(source));
  }
  std::vector<std::uint32_t> sources;
  for (std::size_t p = 0; p < still.parts.size(); ++p) {
    MeshPart& part = still.parts[p];
    part.first_triangle = static_cast<std::uint32_t>(still.mesh.triangles.size());
    part.triangle_count = static_cast<std::uint32_t>(of_part[p].size());
    part.first_vertex = 0;
    part.vertex_count = vertices;
    part.source_primitive = -1;
    still.mesh.triangles.insert(still.mesh.triangles.end(), of_part[p].begin(), of_part[p].end());
    sources.insert(sources.end(), sources_of_part[p].begin(), sources_of_part[p].end());
  }
  still.points = pointsOnPieces(character, still.mesh, sources);
  still.instances = {{.name = character.name,
                      .part_count = static_cast<std::uint32_t>(still.parts.size()),
                      .vertex_count = vertices}};
  return still;
}

/// What differs from the first frame in one instance's vertices.
MorphTarget differenceOf(const MeshInstance& instance, const TriMesh& first,
                         std::span<const Vec3f> positions, std::span<const Vec3f> normals) {
  MorphTarget out;
  const std::size_t end = std::size_t{instance.first_vertex} + instance.vertex_count;
  for (std::size_t v = instance.first_vertex; v < end; ++v) {
    const bool moved = positions[v] != first.positions[v];
    const bool turned = !normals.empty() && normals[v] != first.normals[v];
    if (!moved && !turned) continue;
    out.vertices.push_back(static_cast<std::uint32_t>(v));
    out.positions.push_back(positions[v] - first.positions[v]);
    if (!normals.empty()) out.normals.push_back(normals[v] - first.normals[v]);
  }
  return out;
}

}  // namespace

Character stillCharacter(const Stack& stack) {
  if (&stack.output() != &stack.input()) return refinedStill(stack.character(), stack.output());
  return frozen(stack.character(), stack.character().mesh);
}

CacheCharacter::CacheCharacter(const Stack& stack, std::size_t frame_count)
    : out_(stillCharacter(stack)), morphs_(out_.instances.size()) {
  for (auto& of_instance : morphs_) of_instance.reserve(frame_count);
}

void CacheCharacter::addFrame(std::span<const Vec3f> positions, std::span<const Vec3f> normals) {
  DERM_REQUIRE(positions.size() == out_.mesh.vertexCount());
  DERM_REQUIRE(normals.size() == out_.mesh.normals.size());
  if (!has_first_) {
    out_.mesh.positions.assign(positions.begin(), positions.end());
    out_.mesh.normals.assign(normals.begin(), normals.end());
    has_first_ = true;
    return;
  }
  for (std::size_t i = 0; i < out_.instances.size(); ++i)
    morphs_[i].push_back(differenceOf(out_.instances[i], out_.mesh, positions, normals));
}

Character CacheCharacter::take(std::span<const double> times_s, std::string clip_name) && {
  Clip clip{.name = std::move(clip_name)};
  for (std::size_t i = 0; i < out_.instances.size(); ++i) {
    std::vector<MorphTarget>& frames = morphs_[i];
    DERM_REQUIRE(frames.size() + 1 == times_s.size());
    MeshInstance& instance = out_.instances[i];
    instance.first_morph = static_cast<std::uint32_t>(out_.morphs.size());
    const bool still = std::all_of(frames.begin(), frames.end(),
                                   [](const MorphTarget& m) { return m.vertices.empty(); });
    if (still) continue;
    instance.morph_count = static_cast<std::uint32_t>(frames.size());
    Track track{.channel = Channel::MorphWeights,
                .interpolation = Interpolation::Step,
                .first_morph = instance.first_morph,
                .morph_count = instance.morph_count};
    for (std::size_t f = 0; f < times_s.size(); ++f) {
      const auto time = static_cast<float>(times_s[f]);
      const bool later = track.times_s.empty() || time > track.times_s.back();
      if (!later) continue;  // closer than float can tell
      track.times_s.push_back(time);
      track.values.resize(track.values.size() + frames.size(), 0.0f);
      if (f > 0) track.values[track.values.size() - frames.size() + f - 1] = 1.0f;
    }
    clip.tracks.push_back(std::move(track));
    for (std::size_t f = 0; f < frames.size(); ++f) {
      frames[f].name = "frame " + std::to_string(f + 1);
      out_.morphs.push_back(std::move(frames[f]));
    }
  }
  if (!clip.tracks.empty()) out_.clips.push_back(std::move(clip));
  return std::move(out_);
}

}  // namespace derm::detail
