#pragma once

#include <optional>
#include <vector>

#include "io/gltf/material_writer.h"
#include "io/gltf/skin_writer.h"

namespace derm::detail::gltf {

/// How an instance goes into the file.
struct InstancePlan {
  std::size_t instance = 0;
  /// What it was in the document, and how that was read; null if it is new.
  const ImportedInstance* source = nullptr;
  const MeshInstance* source_instance = nullptr;
  GeometryTransform from_model;  ///< moves vertices to the space the file has them in
  bool same_frame = false;       ///< that space is still the one they were read from
  const SkinUse* skin = nullptr;
  bool sole_user = false;  ///< no other node shows the document's mesh
  std::string node_name;   ///< of the node that shows it
};

/// Writes the mesh of one instance: a primitive per part. Attributes, indices and morph targets
/// that are as they were keep their accessors; unknown attributes stay while the vertex count does.
class MeshWriter {
 public:
  MeshWriter(WriteContext& context, MaterialWriter& materials)
      : context_(context), materials_(materials) {}

  /// The mesh's number in the file: the document's own where nothing changed or nobody else shows
  /// it. Nothing where there are no triangles, which glTF cannot say.
  std::optional<std::size_t> write(const InstancePlan& plan);

 private:
  struct Block {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::optional<std::size_t> source;  ///< block of the document's mesh with as many vertices
    Json attributes = Json::object();
    Json targets = Json::array();
    bool changed = false;
  };

  /// Fills blocks_ and block_of_part_.
  void findBlocks();
  const PrimitivePlan* sourcePrimitive(const MeshPart& part) const;
  const MeshPart& sourcePart(const PrimitivePlan& primitive) const;
  void findSources();
  void writeBlock(Block& block);
  void writeDirections(Block& block);
  void writeSkinRows(Block& block);
  void writeTargets(Block& block);
  Json writePart(std::size_t part, const PrimitivePlan* source);
  /// False where they stay as they are.
  bool writeIndices(const MeshPart& part, const Block& block, const PrimitivePlan* source,
                    Json& json);
  void nameMesh(Json& mesh);
  struct WrittenPart {
    const PrimitivePlan* source = nullptr;
    Json json;
  };
  Json arrange(std::vector<WrittenPart> written) const;
  void fitTargets(Json& primitive) const;
  const Json& sourceMesh() const { return context_.document->root["meshes"][plan_->source->mesh]; }
  const MeshPlan& sourcePlan() const { return *context_.original->plans[plan_->source->mesh]; }

  WriteContext& context_;
  MaterialWriter& materials_;
  const InstancePlan* plan_ = nullptr;
  const MeshInstance* instance_ = nullptr;
  std::vector<Block> blocks_;
  std::vector<std::size_t> block_of_part_;
  bool changed_ = false;
};

}  // namespace derm::detail::gltf
