#include "derm/view/character_look.h"

#include <algorithm>

#include "derm/deform/refined_vertices.h"
#include "derm/io/image_file.h"

namespace derm {
namespace {

using Texture = std::shared_ptr<const Rgba8Image>;

/// Files have others, too: how rough, how shaded, what glows.
std::vector<bool> drawnImages(const Character& character) {
  std::vector<bool> out(character.images.size(), false);
  const auto add = [&](int image) {
    if (image >= 0) out[static_cast<std::size_t>(image)] = true;
  };
  for (const MeshPart& part : character.parts) {
    if (part.material < 0) continue;
    const Material& material = character.materials[static_cast<std::size_t>(part.material)];
    add(material.base_colour_image);
    add(material.normal_image);
    for (const DetailMap& map : material.detail_maps) add(map.image);
  }
  return out;
}

std::vector<Texture> decodedImages(const Character& character, Diagnostics& notes) {
  std::vector<Texture> out(character.images.size());
  const std::vector<bool> drawn = drawnImages(character);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Image& image = character.images[i];
    // Of one without bytes only the name is known; the reader has said so.
    if (!drawn[i] || image.bytes.empty()) continue;
    Result<Rgba8Image> decoded = decodeImage(image.bytes, image.name);
    if (decoded)
      out[i] = std::make_shared<const Rgba8Image>(*std::move(decoded));
    else
      notes.warn("texture-left-out", image.name, decoded.error().text(), i);
  }
  return out;
}

DrawMaterial drawMaterialOf(const Material& material, std::span<const Texture> textures) {
  const auto texture = [&](int image) {
    return image < 0 ? Texture() : textures[static_cast<std::size_t>(image)];
  };
  DrawMaterial out;
  out.base_colour = material.base_colour;
  out.base_colour_image = texture(material.base_colour_image);
  out.normal_image = texture(material.normal_image);
  for (const DetailMap& map : material.detail_maps)
    out.detail_maps.push_back({.image = map.uv_set == 0 ? texture(map.image) : Texture(),
                               .uv_scale = map.uv_scale,
                               .uv_offset = map.uv_offset,
                               .strength = map.strength});
  out.metallic = material.metallic;
  out.roughness = material.roughness;
  out.double_sided = material.double_sided;
  out.cut_out = material.transparent;
  return out;
}

/// Readers give parts without a material one that says nothing.
bool saysNothing(const Material& material) {
  return material.source_index < 0 && material.base_colour_image < 0 &&
         material.detail_maps.empty() && material.base_colour == Vec4f(Vec4f::Ones());
}

/// Bones that move skin, and all bones below them, which show where limbs end. What is above them
/// (a root on the floor) only carries the figure about.
std::vector<bool> weightedBranches(const Character& character) {
  const std::vector<bool> bone = character.bones();
  std::vector<bool> out(bone.size(), false);
  for (const Influence& influence : character.skin.influences)
    out[character.skin.slots[influence.slot].joint.index()] = true;
  for (std::size_t j = 0; j < out.size(); ++j) {
    const JointId parent = character.skeleton.joints[j].parent;
    out[j] = bone[j] && (out[j] || (parent.valid() && out[parent.index()]));
  }
  return out;
}

}  // namespace

CharacterLook::CharacterLook(const Character& character, const BoundSurface& bound,
                             Diagnostics& notes)
    : bound_(&bound),
      materials_(std::max<std::size_t>(character.parts.size(), 1)),
      part_of_(character.mesh.triangles.size(), 0) {
  const std::vector<Texture> textures = decodedImages(character, notes);
  for (std::size_t p = 0; p < character.parts.size(); ++p) {
    const MeshPart& part = character.parts[p];
    std::fill_n(part_of_.begin() + part.first_triangle, part.triangle_count, p);
    if (part.material < 0) continue;
    const Material& own = character.materials[static_cast<std::size_t>(part.material)];
    if (saysNothing(own)) continue;
    materials_[p] = drawMaterialOf(own, textures);
    addMapWeights(character, own, p);
    if (materials_[p].detail_maps.size() > kMaxDetailMaps) {
      notes.warn("detail-maps-left-out", own.name,
                 "pictures show the first " + std::to_string(kMaxDetailMaps) + " of its " +
                     std::to_string(own.detail_maps.size()) + " detail maps");
      materials_[p].detail_maps.resize(kMaxDetailMaps);
    }
  }
  announced_runs_ = runsOf(bound.rest.triangles.size(), bound.source_triangles);
}

void CharacterLook::addMapWeights(const Character& character, const Material& material,
                                  std::size_t part) {
  const std::size_t count = std::min(material.detail_maps.size(), kMaxDetailMaps);
  for (std::size_t m = 0; m < count; ++m) {
    const DetailMap& map = material.detail_maps[m];
    MapWeights out{.part = part, .map = m, .channel = map.channel};
    const auto named = [](const std::string& name) {
      return [&name](const auto& item) { return item.name == name; };
    };
    const auto& groups = character.mesh.groups;
    const auto group = std::find_if(groups.begin(), groups.end(), named(map.vertex_group));
    if (group != groups.end()) {
      out.painted.assign(bound_->rest.positions.size(), 0.0f);
      for (std::size_t i = 0; i < group->vertices.size(); ++i)
        out.painted[group->vertices[i]] = group->strengths[i];
      RefinedVertices(character.mesh, character.mesh.positions.size(), *bound_).carry(out.painted);
    }
    const auto& controls = character.controls;
    const auto control = std::find_if(controls.begin(), controls.end(), named(map.control));
    if (control != controls.end())
      out.control = static_cast<std::size_t>(control - controls.begin());
    if (!out.painted.empty() || out.control || !out.channel.empty())
      map_weights_.push_back(std::move(out));
  }
}

/// Pieces of a refined surface may lie in any order.
std::vector<CharacterLook::Run> CharacterLook::runsOf(
    std::size_t triangle_count, std::span<const std::uint32_t> sources) const {
  std::vector<Run> out;
  for (std::size_t t = 0; t < triangle_count; ++t) {
    const std::size_t source = sources.empty() ? t : sources[t];
    // Triangles of a layer that does not say where they came from look like the first part's.
    const std::size_t part = source < part_of_.size() ? part_of_[source] : 0;
    if (out.empty() || part != out.back().part)
      out.push_back({.first = static_cast<std::uint32_t>(t), .part = part});
    ++out.back().count;
  }
  return out;
}

std::vector<DrawMaterial> CharacterLook::weightedMaterials(const SkinFrame& frame,
                                                           std::span<const float> controls,
                                                           DrawList& list) const {
  std::vector<DrawMaterial> out = materials_;
  for (const MapWeights& of : map_weights_) {
    std::vector<float> weights(frame.vertexCount(), 1.0f);
    const auto multiply = [&](std::span<const float> by) {
      const std::size_t count = std::min(weights.size(), by.size());
      for (std::size_t v = 0; v < count; ++v) weights[v] *= by[v];
    };
    multiply(of.painted);
    if (of.control && *of.control < controls.size())
      for (float& weight : weights) weight *= controls[*of.control];
    // A channel that no layer writes leaves the map where it cannot be wrong: not shown.
    if (!of.channel.empty()) {
      const std::span<const float> channel = frame.channel(of.channel);
      if (channel.empty()) weights.assign(weights.size(), 0.0f);
      multiply(channel);
    }
    out[of.part].detail_maps[of.map].weights = list.keep(std::move(weights));
  }
  return out;
}

DrawSurface CharacterLook::surfaceOf(const SkinFrame& frame, std::span<const float> controls,
                                     DrawList& list) const {
  // An adaptive surface may end before the last vertex of the announced one.
  const auto used = [&](const auto& stream) {
    return std::span(stream).first(stream.empty() ? 0 : frame.vertexCount());
  };
  DrawSurface out;
  out.positions = frame.positions();
  out.normals = frame.normals();
  out.uvs = used(bound_->rest.uvs);
  out.colours = used(bound_->rest.colours);
  out.triangles = frame.triangles();
  const std::vector<DrawMaterial> materials = weightedMaterials(frame, controls, list);
  const std::vector<Run> runs = frame.topology() == 0
                                    ? announced_runs_
                                    : runsOf(frame.triangles().size(), frame.sourceTriangles());
  for (const Run& run : runs) out.parts.push_back({run.first, run.count, materials[run.part]});
  return out;
}

std::vector<SkeletonJoint> skeletonJoints(const Character& character,
                                          std::span<const Affine3d> model) {
  const std::vector<bool> bone = weightedBranches(character);
  std::vector<SkeletonJoint> out;
  std::vector<int> shown_as(character.skeleton.size(), -1);  // itself, or the nearest bone above
  for (std::size_t j = 0; j < shown_as.size(); ++j) {
    const JointId parent = character.skeleton.joints[j].parent;
    const int above = parent.valid() ? shown_as[parent.index()] : -1;
    shown_as[j] = above;
    if (!bone[j]) continue;
    shown_as[j] = static_cast<int>(out.size());
    out.push_back({.position = model[j].translation().cast<float>(), .parent = above});
  }
  return out;
}

std::vector<float> weightsOfJoint(const Skin& skin, JointId joint) {
  std::vector<float> out(skin.vertexCount(), 0.0f);
  for (std::size_t v = 0; v < out.size(); ++v)
    for (const Influence& influence : skin[v])
      if (skin.slots[influence.slot].joint == joint) out[v] += influence.weight;
  return out;
}

}  // namespace derm
