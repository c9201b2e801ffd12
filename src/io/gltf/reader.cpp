#include "io/gltf/reader.h"

#include <fmt/format.h>

#include "io/gltf/clip_reader.h"
#include "io/gltf/controls.h"
#include "io/gltf/groups.h"
#include "io/gltf/material_reader.h"
#include "io/gltf/morph_reader.h"
#include "io/gltf/points.h"
#include "io/gltf/skin_reader.h"

namespace derm::detail::gltf {
namespace {

/// Moves everything of one instance into model space. Morphs first: they need the base vectors as
/// they were.
Result<void> moveToModel(const ReadContext& context, Import& import, std::size_t index) {
  const ImportedInstance& imported = import.instances[index];
  const MeshInstance& instance = import.character.instances[index];
  if (imported.to_model.identity()) return {};
  TriMesh& mesh = import.character.mesh;
  const GeometryTransform& bake = imported.to_model;
  for (std::size_t k = 0; k < instance.morph_count; ++k)
    bake.moveMorph(import.character.morphs[instance.first_morph + k], mesh.normals, mesh.tangents);
  const auto part = [&](auto& array) {
    return std::span(array).subspan(array.empty() ? 0 : instance.first_vertex,
                                    array.empty() ? 0 : instance.vertex_count);
  };
  const std::span<Vec3f> positions = part(mesh.positions);
  bake.movePositions(positions);
  bake.moveNormals(part(mesh.normals));
  bake.moveTangents(part(mesh.tangents));
  for (std::size_t p = instance.first_part; p < instance.first_part + instance.part_count; ++p) {
    const MeshPart& run = import.character.parts[p];
    bake.flip(std::span(mesh.triangles).subspan(run.first_triangle, run.triangle_count));
  }
  const JsonPath root;
  const JsonPath at(root, "meshes", imported.mesh);
  const auto tooLarge = [&](std::size_t vertex) {
    return context.bad(at, "a vertex gets too large for floats where its node puts it", vertex);
  };
  if (!positions.empty())
    if (const auto bad = firstNonFinite({positions.front().data(), 3 * positions.size()}))
      return tooLarge(*bad / 3);
  for (std::size_t k = 0; k < instance.morph_count; ++k) {
    const MorphTarget& morph = import.character.morphs[instance.first_morph + k];
    for (std::size_t i = 0; i < morph.vertices.size(); ++i)
      if (!morph.positions[i].allFinite() ||
          (!morph.normals.empty() && !morph.normals[i].allFinite()) ||
          (!morph.tangents.empty() && !morph.tangents[i].allFinite()))
        return tooLarge(morph.vertices[i] - instance.first_vertex);
  }
  return {};
}

}  // namespace

Result<Import> readImport(const ReadContext& context, const SideFileReader& read_uri) {
  Import import;
  DERM_TRY(import.scene, readScene(context));
  DERM_CHECK(readGeometry(context, import));
  import.character.skeleton = std::move(import.scene.skeleton);
  import.character.joint_source = import.scene.joint_source;
  DERM_CHECK(readMorphs(context, import));
  DERM_CHECK(readSkin(context, import));
  for (std::size_t i = 0; i < import.instances.size(); ++i)
    DERM_CHECK(moveToModel(context, import, i));
  completeGeometry(context, import);
  DERM_CHECK(readGroups(context, import));
  readPoints(context, import);
  DERM_CHECK(readClips(context, import));
  DERM_CHECK(readControls(context, import));
  readMaterials(context, import);
  readImages(context, read_uri, import);
  return import;
}

}  // namespace derm::detail::gltf
