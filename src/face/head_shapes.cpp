#include "derm/face/head_shapes.h"

#include <algorithm>
#include <map>
#include <string>

namespace derm {
namespace {

/// The entries of a shape on one instance's vertices.
MorphTarget onInstance(const MorphTarget& shape, const MeshInstance& instance) {
  MorphTarget out;
  out.name = shape.name;
  out.default_weight = shape.default_weight;
  const std::uint32_t end = instance.first_vertex + instance.vertex_count;
  const auto first =
      std::lower_bound(shape.vertices.begin(), shape.vertices.end(), instance.first_vertex);
  const auto last = std::lower_bound(first, shape.vertices.end(), end);
  const auto from = first - shape.vertices.begin(), to = last - shape.vertices.begin();
  out.vertices.assign(first, last);
  out.positions.assign(shape.positions.begin() + from, shape.positions.begin() + to);
  if (!shape.normals.empty())
    out.normals.assign(shape.normals.begin() + from, shape.normals.begin() + to);
  if (!shape.tangents.empty())
    out.tangents.assign(shape.tangents.begin() + from, shape.tangents.begin() + to);
  return out;
}

bool isNamed(std::span<const MorphTarget> shapes, const std::string& name) {
  return std::any_of(shapes.begin(), shapes.end(),
                     [&](const MorphTarget& s) { return s.name == name; });
}

}  // namespace

std::vector<MorphTarget> shapesOf(const Character& character) {
  std::vector<MorphTarget> out;
  std::map<std::string, std::size_t> known;
  for (const MorphTarget& morph : character.morphs) {
    const auto [at, fresh] = known.emplace(morph.name, out.size());
    if (fresh) {
      out.push_back(morph);
      continue;
    }
    // Instances follow each other, and so do their vertices. A name used twice on one instance is
    // two shapes.
    MorphTarget& shape = out[at->second];
    if (!shape.vertices.empty() && !morph.vertices.empty() &&
        morph.vertices.front() <= shape.vertices.back()) {
      out.push_back(morph);
      continue;
    }
    const bool normals = shape.normals.size() == shape.vertices.size() &&
                         morph.normals.size() == morph.vertices.size();
    shape.vertices.insert(shape.vertices.end(), morph.vertices.begin(), morph.vertices.end());
    shape.positions.insert(shape.positions.end(), morph.positions.begin(), morph.positions.end());
    if (normals)
      shape.normals.insert(shape.normals.end(), morph.normals.begin(), morph.normals.end());
    else
      shape.normals.clear();
    shape.tangents.clear();
  }
  return out;
}

void setShapes(Character& character, std::span<const MorphTarget> shapes, Diagnostics& notes) {
  if (character.instances.empty()) addDefaultParts(character);
  std::vector<MorphTarget> morphs;
  for (MeshInstance& instance : character.instances) {
    const auto first = static_cast<std::uint32_t>(morphs.size());
    std::vector<MorphTarget> own;
    bool moves = false;
    for (const MorphTarget& shape : shapes) {
      own.push_back(onInstance(shape, instance));
      moves = moves || !own.back().vertices.empty();
    }
    if (moves) morphs.insert(morphs.end(), own.begin(), own.end());
    for (std::uint32_t k = 0; k < instance.morph_count; ++k)
      if (const MorphTarget& old = character.morphs[instance.first_morph + k];
          !isNamed(shapes, old.name))
        morphs.push_back(old);
    instance.first_morph = first;
    instance.morph_count = static_cast<std::uint32_t>(morphs.size()) - first;
  }
  character.morphs = std::move(morphs);
  for (Clip& clip : character.clips) {
    const std::size_t before = clip.tracks.size();
    std::erase_if(clip.tracks, [](const Track& t) { return t.channel == Channel::MorphWeights; });
    if (clip.tracks.size() != before)
      notes.warn("shapes-tracks-dropped", clip.name,
                 "its tracks of morph weights were dropped: the head has new shapes");
  }
  std::erase_if(character.clips, [](const Clip& clip) { return clip.tracks.empty(); });
}

}  // namespace derm
