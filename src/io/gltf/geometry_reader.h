#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "derm/character/character.h"

#include "io/gltf/geometry_transform.h"
#include "io/gltf/mesh_plan.h"
#include "io/gltf/scene.h"

namespace derm::detail::gltf {

/// A run of an instance's vertices and which attributes the file had for it.
struct ImportedBlock {
  std::uint32_t first_vertex = 0;  ///< in the merged mesh
  std::uint32_t vertex_count = 0;
  bool normals = false;
  bool tangents = false;
  bool uvs = false;
  bool colours = false;
  bool skin_repaired = false;  ///< its weights, as they are in the file, move it another way
};

/// How one MeshInstance came to be; what the writer needs to give it back.
struct ImportedInstance {
  std::optional<std::size_t> node;  ///< none where the file has no nodes at all
  std::size_t mesh = 0;
  std::optional<std::size_t> skin;  ///< only where the instance really follows it
  std::vector<ImportedBlock> blocks;
  GeometryTransform to_model;
  std::uint32_t first_slot = 0;
  std::uint32_t slot_count = 0;
};

/// Everything read of a document, and the plans it was read by.
struct Import {
  Character character;
  std::vector<ImportedInstance> instances;     ///< one per character.instances
  SceneNodes scene;                            ///< its skeleton has moved into the character
  std::vector<std::optional<MeshPlan>> plans;  ///< per mesh, where used
  /// Per animation, which of its channels became tracks.
  std::vector<std::vector<bool>> channels_read;
};

/// Plans all meshes shown, lays instances, parts and vertices out one after the other, and decodes
/// the attributes and triangles as the file has them (not yet moved into model space).
Result<void> readGeometry(const ReadContext& context, Import& import);

/// Computes what the file left out: normals from the (moved) triangles, tangents beside others.
void completeGeometry(const ReadContext& context, Import& import);

}  // namespace derm::detail::gltf
