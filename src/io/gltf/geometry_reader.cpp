#include "io/gltf/geometry_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "derm/mesh/normals.h"

#include "io/gltf/unit_tolerance.h"

namespace derm::detail::gltf {
namespace {

/// Where an instance lies, for messages.
struct BlockPath {
  JsonPath root, mesh, primitive, attributes;
  BlockPath(const MeshPlan& plan, const BlockPlan& block)
      : mesh(root, "meshes", plan.index),
        primitive(mesh, "primitives", block.first_primitive),
        attributes(primitive, "attributes") {}
  BlockPath(const BlockPath&) = delete;
  BlockPath& operator=(const BlockPath&) = delete;
};

class GeometryReader {
 public:
  GeometryReader(const ReadContext& context, Import& import)
      : context_(context), import_(import), mesh_(import.character.mesh) {}

  Result<void> run() {
    DERM_CHECK(plan());
    DERM_CHECK(layOut());
    for (std::size_t i = 0; i < import_.instances.size(); ++i) DERM_CHECK(decodeInstance(i));
    return {};
  }

 private:
  Result<void> plan();
  Result<void> layOut();
  Result<void> addInstance(const MeshNode& node, const MeshPlan& plan, std::uint64_t& vertices,
                           std::uint64_t& triangles);
  Result<void> takeMemory(const MeshPlan& plan, const JsonPath& at) const;
  Result<void> decodeInstance(std::size_t index);
  Result<void> decodeBlock(const MeshPlan& plan, const BlockPlan& block, const ImportedBlock& at);
  Result<void> decodeTriangles(const MeshPlan& plan, const PrimitivePlan& primitive,
                               const ImportedBlock& block, std::uint32_t first_triangle);
  Result<void> checkFinite(std::span<const float> values, std::size_t width,
                           const JsonPath& at) const;
  void replaceNonFinite(std::span<Vec4f> tangents, const ImportedBlock& block,
                        const JsonPath& at) const;
  void replaceNonFinite(std::span<Vec2f> uvs, const JsonPath& at) const;
  template <class Vector>
  void makeUnit(std::span<Vector> vectors, const Accessor& accessor, const JsonPath& at) const;

  const ReadContext& context_;
  Import& import_;
  TriMesh& mesh_;
  std::vector<std::uint32_t> corners_;
};

Result<void> GeometryReader::plan() {
  const std::size_t meshes = arraySize(context_.root(), "meshes");
  import_.plans.resize(meshes);
  std::vector<MeshNode>& shown = import_.scene.mesh_nodes;
  if (import_.scene.skeleton.joints.empty() && shown.empty() && meshes > 0 &&
      arraySize(context_.root(), "nodes") == 0 && arraySize(context_.root(), "scenes") == 0) {
    context_.notes.info("no-nodes", "meshes", "the file has no nodes; all its meshes are shown");
    for (std::size_t i = 0; i < meshes; ++i) shown.push_back({.mesh = i});
  }
  for (const MeshNode& node : shown)
    if (!import_.plans[node.mesh]) {
      DERM_TRY(import_.plans[node.mesh], planMesh(context_, node.mesh));
    }
  return {};
}

Result<void> GeometryReader::takeMemory(const MeshPlan& plan, const JsonPath& at) const {
  std::uint64_t bytes = plan.triangle_count * sizeof(Triangle);
  for (const BlockPlan& block : plan.blocks) {
    std::uint64_t per_vertex = 2 * sizeof(Vec3f) + 4;
    if (block.tangent) per_vertex += sizeof(Vec4f);
    if (block.uv) per_vertex += sizeof(Vec2f);
    if (block.colour) per_vertex += sizeof(Vec4f);
    per_vertex += sizeof(Influence) * std::max<std::size_t>(1, 4 * block.joints_weights.size());
    bytes += per_vertex * block.vertex_count;
  }
  bytes += plan.primitives.size() * sizeof(MeshPart) + plan.target_count * sizeof(MorphTarget);
  return context_.take(bytes, at);
}

Result<void> GeometryReader::addInstance(const MeshNode& node, const MeshPlan& plan,
                                         std::uint64_t& vertices, std::uint64_t& triangles) {
  Character& c = import_.character;
  const bool has_node = !import_.scene.parent_of_node.empty();
  ImportedInstance imported{.mesh = node.mesh};
  if (has_node) imported.node = node.node;
  if (node.skin && plan.skinned()) imported.skin = node.skin;
  const auto first_vertex = static_cast<std::uint32_t>(vertices);
  for (const BlockPlan& block : plan.blocks) {
    imported.blocks.push_back({.first_vertex = static_cast<std::uint32_t>(vertices),
                               .vertex_count = static_cast<std::uint32_t>(block.vertex_count),
                               .normals = block.normal.has_value(),
                               .tangents = block.tangent.has_value(),
                               .uvs = block.uv.has_value(),
                               .colours = block.colour.has_value()});
    vertices += block.vertex_count;
  }
  const JsonPath root;
  if (vertices >= std::numeric_limits<std::uint32_t>::max() ||
      triangles + plan.triangle_count >= std::numeric_limits<std::uint32_t>::max())
    return context_.bad(JsonPath(root, "meshes", node.mesh),
                        "more vertices or triangles than 2^32");
  const Json* json = has_node ? &context_.root()["nodes"][node.node] : nullptr;
  const Json* extras = findMember(context_.root()["meshes"][node.mesh], "extras");
  std::optional<std::string> name = extras ? stringMember(*extras, kNameKey) : std::nullopt;
  if (!name && json != nullptr) name = stringMember(*json, "name");
  c.instances.push_back({.name = name.value_or(plan.name),
                         .joint = node.joint,
                         .rigid = node.joint.valid() && !imported.skin,
                         .first_part = static_cast<std::uint32_t>(c.parts.size()),
                         .part_count = static_cast<std::uint32_t>(plan.primitives.size()),
                         .first_vertex = first_vertex,
                         .vertex_count = static_cast<std::uint32_t>(vertices) - first_vertex,
                         .first_morph = static_cast<std::uint32_t>(c.morphs.size()),
                         .morph_count = static_cast<std::uint32_t>(plan.target_count),
                         .source_mesh = static_cast<int>(node.mesh),
                         .source_skin = imported.skin ? static_cast<int>(*imported.skin) : -1});
  for (const PrimitivePlan& p : plan.primitives) {
    const ImportedBlock& block = imported.blocks[p.block];
    c.parts.push_back({.name = p.name,
                       .first_triangle = static_cast<std::uint32_t>(triangles),
                       .triangle_count = static_cast<std::uint32_t>(p.triangle_count),
                       .first_vertex = block.first_vertex,
                       .vertex_count = block.vertex_count,
                       .material = p.material,
                       .source_primitive = static_cast<int>(p.index)});
    triangles += p.triangle_count;
  }
  std::vector<float> weights = plan.weights;
  if (json != nullptr) readWeights(context_, *json, JsonPath(root, "nodes", node.node), weights);
  for (std::size_t k = 0; k < plan.target_count; ++k)
    c.morphs.push_back({.name = plan.target_names[k], .default_weight = weights[k]});
  import_.instances.push_back(std::move(imported));
  return {};
}

Result<void> GeometryReader::layOut() {
  const JsonPath root;
  std::uint64_t vertices = 0;
  std::uint64_t triangles = 0;
  for (const MeshNode& node : import_.scene.mesh_nodes) {
    const MeshPlan& plan = *import_.plans[node.mesh];
    if (plan.primitives.empty()) continue;
    const JsonPath at(root, "meshes", node.mesh);
    DERM_CHECK(takeMemory(plan, at));
    if (node.skin && !plan.skinned())
      context_.warn("skin-without-weights", at,
                    "hangs on a skin but has no joints and weights; follows its node");
    DERM_CHECK(addInstance(node, plan, vertices, triangles));
  }
  const auto any = [&](bool ImportedBlock::*has) {
    for (const ImportedInstance& i : import_.instances)
      for (const ImportedBlock& b : i.blocks)
        if (b.*has) return true;
    return false;
  };
  mesh_.positions.resize(vertices);
  mesh_.normals.resize(vertices);
  // Vertices of meshes that lack an attribute others have get a neutral value.
  if (any(&ImportedBlock::tangents)) mesh_.tangents.assign(vertices, Vec4f::Zero());
  if (any(&ImportedBlock::uvs)) mesh_.uvs.assign(vertices, Vec2f::Zero());
  if (any(&ImportedBlock::colours)) mesh_.colours.assign(vertices, Vec4f::Ones());
  mesh_.triangles.resize(triangles);
  return {};
}

Result<void> GeometryReader::checkFinite(std::span<const float> values, std::size_t width,
                                         const JsonPath& at) const {
  if (const auto index = firstNonFinite(values))
    return context_.bad(at, "not a finite number", *index / width);
  return {};
}

/// Exporters divide by the area in the texture, which may be 0, and the rest of the mesh is good.
void GeometryReader::replaceNonFinite(std::span<Vec4f> tangents, const ImportedBlock& block,
                                      const JsonPath& at) const {
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (tangents[i].allFinite()) continue;
    context_.warn("tangent-not-finite", at, "not a finite number; another tangent is taken", i);
    tangents[i] =
        block.normals ? anyTangent(mesh_.normals[block.first_vertex + i]) : Vec4f(1, 0, 0, 1);
  }
}

/// As exporters write them for faces that were never unwrapped.
void GeometryReader::replaceNonFinite(std::span<Vec2f> uvs, const JsonPath& at) const {
  for (std::size_t i = 0; i < uvs.size(); ++i) {
    if (uvs[i].allFinite()) continue;
    context_.warn("texture-coordinate-not-finite", at, "not a finite number; 0, 0 is taken", i);
    uvs[i] = Vec2f::Zero();
  }
}

/// Directions whose length is off are repaired; rounding of small integers is not worth a note.
template <class Vector>
void GeometryReader::makeUnit(std::span<Vector> vectors, const Accessor& accessor,
                              const JsonPath& at) const {
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const Vec3f v = vectors[i].template head<3>();
    const float squared = v.squaredNorm();
    if (std::abs(squared - 1.0f) <= kUnitVectorTolerance) continue;
    const double length = v.template cast<double>().norm();
    const bool usable = length > 1e-6;
    if (accessor.component == Component::Float || !usable)
      context_.warn("not-unit", at, "its length is not 1; repaired", i);
    vectors[i].template head<3>() =
        usable ? Vec3f((v.template cast<double>() / length).template cast<float>())
               : Vec3f(Vec3f::UnitY());
  }
}

Result<void> GeometryReader::decodeBlock(const MeshPlan& plan, const BlockPlan& block,
                                         const ImportedBlock& at) {
  const BlockPath path(plan, block);
  const std::size_t n = at.vertex_count;
  const auto decode = [&](const Accessor& accessor, auto& array, std::size_t width,
                          const char* name) -> Result<void> {
    float* out = array[at.first_vertex].data();
    decodeFloats(accessor, 0, n, out, width);
    return checkFinite({out, n * width}, width, JsonPath(path.attributes, name));
  };
  DERM_CHECK(decode(block.position, mesh_.positions, 3, "POSITION"));
  if (block.normal) {
    DERM_CHECK(decode(*block.normal, mesh_.normals, 3, "NORMAL"));
    makeUnit(std::span(mesh_.normals).subspan(at.first_vertex, n), *block.normal,
             JsonPath(path.attributes, "NORMAL"));
  }
  if (block.tangent) {
    const std::span<Vec4f> tangents = std::span(mesh_.tangents).subspan(at.first_vertex, n);
    decodeFloats(*block.tangent, 0, n, tangents.front().data(), 4);
    replaceNonFinite(tangents, at, JsonPath(path.attributes, "TANGENT"));
    makeUnit(tangents, *block.tangent, JsonPath(path.attributes, "TANGENT"));
    for (Vec4f& t : tangents) t.w() = t.w() < 0 ? -1.0f : 1.0f;
  }
  if (block.uv) {
    const std::span<Vec2f> uvs = std::span(mesh_.uvs).subspan(at.first_vertex, n);
    decodeFloats(*block.uv, 0, n, uvs.front().data(), 2);
    replaceNonFinite(uvs, JsonPath(path.attributes, "TEXCOORD_0"));
  }
  // A colour of three components leaves the alpha at 1.
  if (block.colour) DERM_CHECK(decode(*block.colour, mesh_.colours, 4, "COLOR_0"));
  return {};
}

Result<void> GeometryReader::decodeTriangles(const MeshPlan& plan, const PrimitivePlan& primitive,
                                             const ImportedBlock& block,
                                             std::uint32_t first_triangle) {
  const std::span<Triangle> out =
      std::span(mesh_.triangles).subspan(first_triangle, primitive.triangle_count);
  const std::size_t corners = primitive.corner_count;
  std::uint32_t* corner = nullptr;
  if (primitive.mode == DrawMode::Triangles && corners == 3 * out.size()) {
    corner = out.front().data();  // as it lies in the file
  } else {
    corners_.resize(corners);
    corner = corners_.data();
  }
  if (primitive.indices) {
    decodeUints(*primitive.indices, 0, corners, corner, 1);
    // The largest value of an index type means "restart", which glTF forbids.
    const std::size_t size = sizeOf(primitive.indices->component);
    const std::uint32_t restart = size == 4 ? 0xFFFFFFFFu : (1u << (8 * size)) - 1;
    const std::uint32_t limit = std::min(block.vertex_count, restart);
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < corners; ++i) largest = std::max(largest, corner[i]);
    if (largest >= limit) {
      const auto at = std::find_if(corner, corner + corners, [&](auto v) { return v >= limit; });
      const JsonPath root;
      const JsonPath mesh(root, "meshes", plan.index);
      const JsonPath here(mesh, "primitives", primitive.index);
      return context_.bad(JsonPath(here, "indices"),
                          *at == restart ? std::string("a primitive restart value is not allowed")
                                         : fmt::format("vertex {} of {}", *at, block.vertex_count),
                          static_cast<std::uint64_t>(at - corner));
    }
  } else {
    for (std::size_t i = 0; i < corners; ++i) corner[i] = static_cast<std::uint32_t>(i);
  }
  const std::uint32_t shift = block.first_vertex;
  for (std::size_t t = 0; t < out.size(); ++t) {
    switch (primitive.mode) {
      case DrawMode::Triangles:
        out[t] = {corner[3 * t] + shift, corner[3 * t + 1] + shift, corner[3 * t + 2] + shift};
        break;
      case DrawMode::Strip:  // every other triangle is turned over
        out[t] = {corner[t] + shift, corner[t + 1 + t % 2] + shift, corner[t + 2 - t % 2] + shift};
        break;
      case DrawMode::Fan:
        out[t] = {corner[t + 1] + shift, corner[t + 2] + shift, corner[0] + shift};
        break;
    }
  }
  return {};
}

Result<void> GeometryReader::decodeInstance(std::size_t index) {
  const ImportedInstance& imported = import_.instances[index];
  const MeshPlan& plan = *import_.plans[imported.mesh];
  for (std::size_t b = 0; b < plan.blocks.size(); ++b)
    DERM_CHECK(decodeBlock(plan, plan.blocks[b], imported.blocks[b]));
  const MeshInstance& instance = import_.character.instances[index];
  for (std::size_t p = 0; p < plan.primitives.size(); ++p) {
    const MeshPart& part = import_.character.parts[instance.first_part + p];
    DERM_CHECK(decodeTriangles(plan, plan.primitives[p], imported.blocks[plan.primitives[p].block],
                               part.first_triangle));
  }
  return {};
}

/// Normals of the blocks of one instance that have none, from the triangles that use them.
void computeNormals(Import& import, std::size_t index) {
  TriMesh& mesh = import.character.mesh;
  const ImportedInstance& imported = import.instances[index];
  const MeshInstance& instance = import.character.instances[index];
  const MeshPlan& plan = *import.plans[imported.mesh];
  std::vector<std::vector<std::size_t>> parts_of_block(imported.blocks.size());
  for (std::size_t p = 0; p < plan.primitives.size(); ++p)
    parts_of_block[plan.primitives[p].block].push_back(instance.first_part + p);
  std::vector<Triangle> triangles;
  for (std::size_t b = 0; b < imported.blocks.size(); ++b) {
    const ImportedBlock& block = imported.blocks[b];
    if (block.normals) continue;
    triangles.clear();
    for (const std::size_t p : parts_of_block[b]) {
      const MeshPart& part = import.character.parts[p];
      for (std::size_t t = 0; t < part.triangle_count; ++t) {
        Triangle local = mesh.triangles[part.first_triangle + t];
        for (std::uint32_t& v : local) v -= block.first_vertex;
        triangles.push_back(local);
      }
    }
    const std::vector<Vec3f> normals = areaWeightedNormals(
        std::span(mesh.positions).subspan(block.first_vertex, block.vertex_count), triangles);
    std::copy(normals.begin(), normals.end(), mesh.normals.begin() + block.first_vertex);
  }
}

}  // namespace

Result<void> readGeometry(const ReadContext& context, Import& import) {
  return GeometryReader(context, import).run();
}

void completeGeometry(const ReadContext& context, Import& import) {
  TriMesh& mesh = import.character.mesh;
  for (std::size_t i = 0; i < import.instances.size(); ++i) {
    const std::vector<ImportedBlock>& blocks = import.instances[i].blocks;
    if (std::any_of(blocks.begin(), blocks.end(),
                    [](const ImportedBlock& b) { return !b.normals; })) {
      const JsonPath root;
      context.notes.info("normals-computed",
                         JsonPath(root, "meshes", import.instances[i].mesh).text(),
                         "without normals; smooth ones were computed");
      computeNormals(import, i);
    }
    if (mesh.tangents.empty()) continue;
    for (const ImportedBlock& block : blocks)
      if (!block.tangents)
        for (std::size_t v = block.first_vertex; v < block.first_vertex + block.vertex_count; ++v)
          mesh.tangents[v] = anyTangent(mesh.normals[v]);
  }
}

}  // namespace derm::detail::gltf
