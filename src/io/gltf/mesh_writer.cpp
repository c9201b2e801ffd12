#include "io/gltf/mesh_writer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "io/gltf/groups.h"
#include "io/gltf/morph_writer.h"
#include "io/gltf/points.h"
#include "io/gltf/unit_tolerance.h"

namespace derm::detail::gltf {
namespace {

template <class T>
std::span<const T> sliceOf(const std::vector<T>& values, std::size_t first, std::size_t count) {
  return values.empty() ? std::span<const T>() : std::span(values).subspan(first, count);
}

template <class T>
bool sameValues(std::span<const T> a, std::span<const T> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/// Directions leave with unit length whatever was done to them.
template <class Vector>
void makeUnit(std::vector<Vector>& vectors) {
  for (Vector& v : vectors) {
    const Vec3f direction = v.template head<3>();
    if (std::abs(direction.squaredNorm() - 1.0f) <= kUnitVectorTolerance) continue;
    const double length = direction.template cast<double>().norm();
    v.template head<3>() =
        length > 1e-12 ? Vec3f((direction.template cast<double>() / length).template cast<float>())
                       : Vec3f(Vec3f::UnitY());
  }
}

bool isSkinAttribute(std::string_view name) {
  return name.starts_with("JOINTS_") || name.starts_with("WEIGHTS_");
}

}  // namespace

/// The runs of vertices that parts share. Where they overlap or leave gaps, one run for all.
void MeshWriter::findBlocks() {
  blocks_.clear();
  block_of_part_.clear();
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> known;
  std::uint64_t end = instance_->first_vertex;
  bool tidy = true;
  for (std::size_t p = 0; p < instance_->part_count; ++p) {
    const MeshPart& part = context_.character.parts[instance_->first_part + p];
    const auto [it, fresh] =
        known.try_emplace({part.first_vertex, part.vertex_count}, blocks_.size());
    block_of_part_.push_back(it->second);
    if (!fresh) continue;
    tidy = tidy && part.first_vertex == end && part.vertex_count > 0;
    end = std::uint64_t{part.first_vertex} + part.vertex_count;
    blocks_.push_back({.first = part.first_vertex, .count = part.vertex_count});
  }
  if (tidy && end == std::uint64_t{instance_->first_vertex} + instance_->vertex_count) return;
  blocks_.clear();
  blocks_.push_back({.first = instance_->first_vertex, .count = instance_->vertex_count});
  block_of_part_.assign(instance_->part_count, 0);
}

const PrimitivePlan* MeshWriter::sourcePrimitive(const MeshPart& part) const {
  if (plan_->source == nullptr || part.source_primitive < 0) return nullptr;
  const std::vector<PrimitivePlan>& all = sourcePlan().primitives;  // sorted by index
  const auto wanted = static_cast<std::size_t>(part.source_primitive);
  const auto it =
      std::lower_bound(all.begin(), all.end(), wanted,
                       [](const PrimitivePlan& p, std::size_t index) { return p.index < index; });
  return it != all.end() && it->index == wanted ? &*it : nullptr;
}

/// The document's part that a planned primitive became.
const MeshPart& MeshWriter::sourcePart(const PrimitivePlan& primitive) const {
  const auto position = &primitive - sourcePlan().primitives.data();
  return context_.original->character
      .parts[plan_->source_instance->first_part + static_cast<std::size_t>(position)];
}

/// A block goes back to the document's block that one of its parts came from, if it has as many
/// vertices.
void MeshWriter::findSources() {
  std::set<std::size_t> claimed;
  for (std::size_t p = 0; p < instance_->part_count; ++p) {
    Block& block = blocks_[block_of_part_[p]];
    if (block.source) continue;
    const PrimitivePlan* primitive =
        sourcePrimitive(context_.character.parts[instance_->first_part + p]);
    if (primitive == nullptr || sourcePlan().blocks[primitive->block].vertex_count != block.count)
      continue;
    if (claimed.insert(primitive->block).second) block.source = primitive->block;
  }
}

void MeshWriter::writeDirections(Block& block) {
  const TriMesh& now = context_.character.mesh;
  const TriMesh* then = block.source ? &context_.original->character.mesh : nullptr;
  const std::size_t from = block.source ? plan_->source->blocks[*block.source].first_vertex : 0;
  const auto put = [&](const char* name, const auto& values, const auto* before, const auto& move,
                       bool in_space) {
    if (values.empty()) {
      if (block.attributes.erase(name) > 0) block.changed = true;
      return;
    }
    const auto slice = sliceOf(values, block.first, block.count);
    if (before != nullptr && (plan_->same_frame || !in_space) &&
        sameValues(slice, sliceOf(*before, from, block.count)))
      return;
    std::vector copy(slice.begin(), slice.end());
    move(copy);
    block.attributes[name] = context_.out.addVectors(copy);
    block.changed = true;
  };
  const GeometryTransform& bake = plan_->from_model;
  put(
      "TANGENT", now.tangents, then ? &then->tangents : nullptr,
      [&](std::vector<Vec4f>& tangents) {
        if (!bake.identity()) bake.moveTangents(tangents);
        makeUnit(tangents);
        for (Vec4f& t : tangents) t.w() = t.w() < 0 ? -1.0f : 1.0f;
      },
      true);
  put(
      "TEXCOORD_0", now.uvs, then ? &then->uvs : nullptr, [](auto&) {}, false);
  put(
      "COLOR_0", now.colours, then ? &then->colours : nullptr,
      [](std::vector<Vec4f>& colours) {
        for (Vec4f& c : colours) c = c.cwiseMax(0.0f).cwiseMin(1.0f);
      },
      false);
}

void MeshWriter::writeBlock(Block& block) {
  const TriMesh& now = context_.character.mesh;
  const TriMesh* then = block.source ? &context_.original->character.mesh : nullptr;
  const GeometryTransform& bake = plan_->from_model;
  std::size_t from = 0;
  if (block.source) {
    from = plan_->source->blocks[*block.source].first_vertex;
    const std::size_t primitive = sourcePlan().blocks[*block.source].first_primitive;
    block.attributes = sourceMesh()["primitives"][primitive]["attributes"];
  } else {
    block.changed = true;
    if (plan_->source != nullptr)
      context_.notes.info("attributes-dropped", "meshes",
                          "a part has another number of vertices than in its file; attributes derm "
                          "does not know are not written",
                          plan_->source->mesh);
  }
  const auto put = [&](const char* name, std::span<const Vec3f> values, const auto* before,
                       const auto& move, bool with_bounds) {
    if (before != nullptr && plan_->same_frame &&
        sameValues(values, sliceOf(*before, from, block.count)))
      return;
    std::vector<Vec3f> copy(values.begin(), values.end());
    move(copy);
    block.attributes[name] = context_.out.addVectors(copy, with_bounds);
    block.changed = true;
  };
  put(
      "POSITION", sliceOf(now.positions, block.first, block.count),
      then ? &then->positions : nullptr,
      [&](std::vector<Vec3f>& v) {
        if (!bake.identity()) bake.movePositions(v);
      },
      true);
  if (now.normals.empty()) {
    if (block.attributes.erase("NORMAL") > 0) block.changed = true;
  } else {
    put(
        "NORMAL", sliceOf(now.normals, block.first, block.count), then ? &then->normals : nullptr,
        [&](std::vector<Vec3f>& v) {
          if (!bake.identity()) bake.moveNormals(v);
          makeUnit(v);
        },
        false);
  }
  writeDirections(block);
  writeSkinRows(block);
  writeTargets(block);
}

void MeshWriter::writeSkinRows(Block& block) {
  const auto eraseAll = [&] {
    for (auto it = block.attributes.begin(); it != block.attributes.end();)
      it = isSkinAttribute(it.key()) ? block.attributes.erase(it) : std::next(it);
    block.changed = true;
  };
  const Skin& skin = context_.character.skin;
  if (plan_->skin == nullptr) {
    if (block.source && plan_->source->skin) eraseAll();
    return;
  }
  const SkinUse& use = *plan_->skin;
  // What was repaired on reading differs from the file, though not from what was read.
  if (block.source && use.kept && !plan_->source->blocks[*block.source].skin_repaired) {
    const Skin& then = context_.original->character.skin;
    const std::size_t from = plan_->source->blocks[*block.source].first_vertex;
    bool same = true;
    for (std::size_t v = 0; v < block.count && same; ++v)
      same = sameValues(skin[block.first + v], then[from + v]);
    if (same) return;
  }
  eraseAll();
  std::size_t max_influences = 1;
  for (std::size_t v = block.first; v < block.first + std::size_t{block.count}; ++v)
    max_influences = std::max(max_influences, skin[v].size());
  const std::size_t sets = (max_influences + 3) / 4;
  for (std::size_t set = 0; set < sets; ++set) {
    std::vector<std::uint32_t> joints(4 * std::size_t{block.count}, 0);
    std::vector<Vec4f> weights(block.count, Vec4f::Zero());
    for (std::size_t v = 0; v < block.count; ++v) {
      const std::span<const Influence> row = skin[block.first + v];
      double sum = 0;
      for (const Influence& i : row) sum += i.weight;
      // A row may be off by a little more than the validator forgives.
      const bool off = std::abs(sum - 1.0) > 0x1p-24 * static_cast<double>(row.size());
      for (std::size_t k = 0; k < 4 && 4 * set + k < row.size(); ++k) {
        const Influence& i = row[4 * set + k];
        joints[4 * v + k] = use.joint_of_slot[i.slot];
        weights[v][static_cast<int>(k)] = off ? static_cast<float>(i.weight / sum) : i.weight;
      }
    }
    block.attributes[fmt::format("JOINTS_{}", set)] =
        context_.out.addJoints(joints, use.joint_count);
    block.attributes[fmt::format("WEIGHTS_{}", set)] = context_.out.addVectors(weights);
  }
}

void MeshWriter::writeTargets(Block& block) {
  const Character& c = context_.character;
  const Json* before = nullptr;
  if (block.source)
    before = findMember(
        sourceMesh()["primitives"][sourcePlan().blocks[*block.source].first_primitive], "targets");
  for (std::size_t k = 0; k < instance_->morph_count; ++k) {
    MorphTarget slice = morphSlice(c.morphs[instance_->first_morph + k], block.first, block.count);
    const Json* old = before != nullptr && k < before->size() ? &(*before)[k] : nullptr;
    if (old != nullptr && plan_->same_frame && k < plan_->source_instance->morph_count) {
      const MorphTarget then =
          morphSlice(context_.original->character.morphs[plan_->source_instance->first_morph + k],
                     plan_->source->blocks[*block.source].first_vertex, block.count);
      if (then.vertices == slice.vertices && then.positions == slice.positions &&
          then.normals == slice.normals && then.tangents == slice.tangents) {
        block.targets.push_back(*old);
        continue;
      }
    }
    // A morph of normals that are not written has no meaning, and is no valid glTF: a file without
    // normals stays without them.
    if (!block.attributes.contains("NORMAL")) slice.normals.clear();
    if (!block.attributes.contains("TANGENT")) slice.tangents.clear();
    if (!plan_->from_model.identity())
      plan_->from_model.moveMorph(slice, sliceOf(c.mesh.normals, block.first, block.count),
                                  sliceOf(c.mesh.tangents, block.first, block.count));
    Json target = old != nullptr && old->is_object() ? *old : Json::object();
    for (const char* name : {"POSITION", "NORMAL", "TANGENT"}) target.erase(name);
    target.update(writeTarget(context_.out, slice, block.count));
    block.targets.push_back(std::move(target));
    block.changed = true;
  }
  if (block.targets.size() != (before != nullptr ? before->size() : 0)) block.changed = true;
}

bool MeshWriter::writeIndices(const MeshPart& part, const Block& block, const PrimitivePlan* source,
                              Json& json) {
  const auto run = [](const Character& c, const MeshPart& p) {
    return std::span(c.mesh.triangles).subspan(p.first_triangle, p.triangle_count);
  };
  const std::span<const Triangle> now = run(context_.character, part);
  const bool mirrors = plan_->from_model.mirrors();
  if (source != nullptr && block.source == source->block &&
      mirrors == plan_->source->to_model.mirrors()) {
    const std::uint32_t from = plan_->source->blocks[source->block].first_vertex;
    const std::span<const Triangle> then = run(context_.original->character, sourcePart(*source));
    const auto same = [&](const Triangle& a, const Triangle& b) {
      for (int i = 0; i < 3; ++i)
        if (a[i] - block.first != b[i] - from) return false;
      return true;
    };
    if (std::equal(now.begin(), now.end(), then.begin(), then.end(), same)) return false;
  }
  if (now.empty()) return false;
  std::vector<std::uint32_t> corners;
  corners.reserve(3 * now.size());
  for (Triangle t : now) {
    if (mirrors) std::swap(t[1], t[2]);
    for (const std::uint32_t v : t) corners.push_back(v - block.first);
  }
  json["indices"] = context_.out.addIndices(corners);
  json.erase("mode");
  return true;
}

Json MeshWriter::writePart(std::size_t index, const PrimitivePlan* source) {
  const MeshPart& part = context_.character.parts[instance_->first_part + index];
  const Block& block = blocks_[block_of_part_[index]];
  Json json = source != nullptr ? sourceMesh()["primitives"][source->index] : Json::object();
  const bool same_block = source != nullptr && block.source == source->block;
  bool touched = false;
  if (!same_block || block.changed) {
    json["attributes"] = block.attributes;
    if (block.targets.empty())
      json.erase("targets");
    else
      json["targets"] = block.targets;
    touched = true;
  }
  touched = writeIndices(part, block, source, json) || touched;
  int material = materials_.numberOf(part.material);
  const bool needs_uvs =
      materials_.textured(part.material) && !json["attributes"].contains("TEXCOORD_0");
  if (!block.source && context_.document != nullptr && !needs_uvs)
    material = materials_.usableWith(material, json["attributes"]);
  if (material != (source != nullptr ? source->material : -1)) {
    if (material < 0)
      json.erase("material");
    else
      json["material"] = material;
    changed_ = true;
    if (needs_uvs)
      json["attributes"]["TEXCOORD_0"] = context_.out.append(
          "accessors", {{"componentType", 5126}, {"count", block.count}, {"type", "VEC2"}});
  }
  const std::string expected = source != nullptr ? source->name
                               : index == 0      ? instance_->name
                                                 : fmt::format("{}_{}", instance_->name, index);
  if (part.name != expected || (source == nullptr && plan_->source != nullptr)) {
    objectMember(json, "extras")[kNameKey] = part.name;
    changed_ = true;
  }
  if (writePoints(context_.character, instance_->first_part + index,
                  source != nullptr ? source->triangle_count : 0, plan_->from_model.mirrors(),
                  json))
    changed_ = true;
  if (touched && json.contains("extensions") && json["extensions"].is_object()) {
    // A compressed copy of what has changed would win over it.
    json["extensions"].erase("KHR_draco_mesh_compression");
    if (json["extensions"].empty()) json.erase("extensions");
  }
  changed_ = changed_ || touched;
  return json;
}

/// Names of the instance and its morph targets, default weights, vertex groups.
void MeshWriter::nameMesh(Json& mesh) {
  const Character& c = context_.character;
  const auto morphs = sliceOf(c.morphs, instance_->first_morph, instance_->morph_count);
  std::vector<std::string> names;
  std::vector<float> weights;
  for (const MorphTarget& m : morphs) {
    names.push_back(m.name);
    weights.push_back(m.default_weight);
  }
  const MeshInstance* then = plan_->source_instance;
  std::vector<std::string> names_then;
  if (then != nullptr) names_then = sourcePlan().target_names;
  if (names != names_then) {
    Json& extras = objectMember(mesh, "extras");
    if (names.empty())
      extras.erase("targetNames");
    else
      extras["targetNames"] = names;
    changed_ = true;
  }
  const std::size_t target_count_then = then != nullptr ? then->morph_count : 0;
  if (weights.size() != target_count_then || then == nullptr) {
    mesh.erase("weights");
    if (std::any_of(weights.begin(), weights.end(), [](float w) { return w != 0; }))
      mesh["weights"] = weights;
    changed_ = true;
  }
  if (then == nullptr) mesh["name"] = instance_->name;
  if (instance_->name != (then != nullptr ? then->name : plan_->node_name)) {
    objectMember(mesh, "extras")[kNameKey] = instance_->name;
    changed_ = true;
  }
  const Json groups = groupsToJson(c.mesh, *instance_);
  const Json groups_then =
      then != nullptr ? groupsToJson(context_.original->character.mesh, *then) : Json(nullptr);
  if (groups != groups_then) {
    Json& extras = objectMember(mesh, "extras");
    if (groups.is_null())
      extras.erase(kGroupsKey);
    else
      extras[kGroupsKey] = groups;
    changed_ = true;
  }
  if (mesh.contains("extras") && mesh["extras"].empty()) mesh.erase("extras");
}

/// All primitives of a mesh must have as many targets: carried ones get still ones.
void MeshWriter::fitTargets(Json& primitive) const {
  const std::size_t wanted = instance_->morph_count;
  if (arraySize(primitive, "targets") == wanted) return;
  Json targets = primitive.contains("targets") && primitive["targets"].is_array()
                     ? primitive["targets"]
                     : Json::array();
  const Json* attributes = findMember(primitive, "attributes");
  const Json* position = attributes != nullptr ? findMember(*attributes, "POSITION") : nullptr;
  const std::uint64_t accessor =
      position ? asUint(*position).value_or(~std::uint64_t{0}) : ~std::uint64_t{0};
  const Json* accessors = findMember(context_.out.root, "accessors");
  const Json* count = accessors != nullptr && accessor < accessors->size()
                          ? findMember((*accessors)[accessor], "count")
                          : nullptr;
  if (wanted == 0 || count == nullptr) {
    primitive.erase("targets");
    return;
  }
  while (targets.size() > wanted) targets.erase(targets.size() - 1);
  if (targets.size() < wanted) {
    const std::size_t still = context_.out.addSparse(asUint(*count).value_or(1), {}, {}, true);
    while (targets.size() < wanted) targets.push_back({{"POSITION", still}});
  }
  primitive["targets"] = std::move(targets);
}

/// Primitives in the document's order, those derm does not use (points, lines) among them; new ones
/// at the end.
Json MeshWriter::arrange(std::vector<WrittenPart> written) const {
  Json out = Json::array();
  if (plan_->source != nullptr) {
    std::map<std::size_t, Json*> by_source;
    for (WrittenPart& part : written)
      if (part.source != nullptr) by_source[part.source->index] = &part.json;
    const std::vector<PrimitivePlan>& planned = sourcePlan().primitives;
    const Json& before = sourceMesh()["primitives"];
    std::size_t next = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (next < planned.size() && planned[next].index == i) {
        ++next;
        if (const auto it = by_source.find(i); it != by_source.end())
          out.push_back(std::move(*it->second));
        continue;
      }
      out.push_back(before[i]);
      fitTargets(out.back());
    }
  }
  for (WrittenPart& part : written)
    if (part.source == nullptr) out.push_back(std::move(part.json));
  return out;
}

std::optional<std::size_t> MeshWriter::write(const InstancePlan& plan) {
  plan_ = &plan;
  instance_ = &context_.character.instances[plan.instance];
  changed_ = false;
  std::vector<std::pair<std::size_t, const PrimitivePlan*>> parts;
  std::set<const PrimitivePlan*> claimed;
  for (std::size_t p = 0; p < instance_->part_count; ++p) {
    const MeshPart& part = context_.character.parts[instance_->first_part + p];
    const PrimitivePlan* source = sourcePrimitive(part);
    if (source != nullptr && !claimed.insert(source).second) source = nullptr;
    if (part.triangle_count > 0 || (source != nullptr && source->triangle_count == 0))
      parts.emplace_back(p, source);
    else
      context_.notes.warn("empty-part", "parts", "a part without triangles is not written",
                          instance_->first_part + p);
  }
  if (parts.empty()) return std::nullopt;
  findBlocks();
  findSources();
  for (Block& block : blocks_) writeBlock(block);
  std::vector<WrittenPart> written;
  for (const auto& [part, source] : parts) written.push_back({source, writePart(part, source)});
  if (plan.source != nullptr && written.size() != sourcePlan().primitives.size()) changed_ = true;
  Json mesh = plan.source != nullptr ? sourceMesh() : Json::object();
  nameMesh(mesh);
  if (!changed_ && plan.source != nullptr) return plan.source->mesh;
  mesh["primitives"] = arrange(std::move(written));
  if (plan.source == nullptr || !plan.sole_user)
    return context_.out.append("meshes", std::move(mesh));
  context_.out.root["meshes"][plan.source->mesh] = std::move(mesh);
  return plan.source->mesh;
}

}  // namespace derm::detail::gltf
