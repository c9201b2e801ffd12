#pragma once

#include <optional>
#include <vector>

#include "io/gltf/mesh_writer.h"

namespace derm::detail::gltf {

/// Hangs every instance on a node, with its mesh and skin.
///
/// In model space a vertex of the character is at sum w_s G_s B_s v (G the joint's matrix, B the
/// slot's inverse bind). In the file a skinned mesh stores v and B, or, where the document's skin
/// is kept, what B was made from; a rigid one stores B v on its joint's node, which puts it at G B
/// v; a mesh without skin stores G^-1 v at rest.
class InstanceWriter {
 public:
  InstanceWriter(WriteContext& context, NodeWriter& nodes, MaterialWriter& materials)
      : context_(context), nodes_(nodes), materials_(materials) {}

  Result<void> write();
  /// The node that shows an instance; nothing where it could not be written.
  std::optional<std::size_t> nodeOf(std::size_t instance) const { return node_[instance]; }
  /// The document's instance that an instance of the character was; -1 if it is new.
  int sourceOf(std::size_t instance) const { return match_[instance]; }

 private:
  enum class Kind { Rigid, Skinned, Loose };

  void matchSources();
  void clearLeftNodes();
  Kind kindOf(std::size_t instance) const;
  InstancePlan planFor(std::size_t instance, const SkinWriter& skins) const;
  void planLoose(const MeshInstance& instance, InstancePlan& plan) const;
  std::size_t nodeFor(const InstancePlan& plan);
  bool mayKeepNode(const InstancePlan& plan, std::size_t node) const;
  std::size_t addCarrier(const InstancePlan& plan, std::optional<std::size_t> parent);
  bool withoutNodes() const;
  void showOn(std::size_t node, const InstancePlan& plan, std::size_t mesh);
  std::size_t showersOf(std::size_t mesh) const;

  WriteContext& context_;
  NodeWriter& nodes_;
  MaterialWriter& materials_;
  std::vector<Affine3d> model_;  ///< rest matrices of the joints
  std::vector<int> match_;
  std::vector<Kind> kind_;
  std::vector<std::optional<std::size_t>> node_;
  int last_node_ = -1;                ///< largest number of a node in use so far
  std::vector<std::size_t> showers_;  ///< per mesh of the document, nodes that show it
};

}  // namespace derm::detail::gltf
