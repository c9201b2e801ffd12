#pragma once

#include <optional>
#include <string>
#include <vector>

#include "derm/character/character.h"

#include "io/gltf/geometry_reader.h"
#include "io/gltf/output.h"

namespace derm::detail::gltf {

/// What all writers of parts share. `original` is the document read once more: what the character
/// was at import, to tell what has changed. Null for a character that came from no glTF file.
struct WriteContext {
  const Character& character;
  const GltfDocument* document = nullptr;
  const Import* original = nullptr;
  Output& out;
  Diagnostics& notes;
};

/// Rotation as the file should have it: unit length to the tolerance readers ask for.
Quatf fileRotation(const Quatf& q);

/// Joints as nodes. Nodes of the document keep their numbers; joints that are new get new ones. A
/// character whose joints no longer refer to the document's nodes gets a node tree of its own.
class NodeWriter {
 public:
  explicit NodeWriter(WriteContext& context) : context_(context) {}

  void write();

  bool keepsNodes() const { return keeps_nodes_; }
  std::size_t nodeOf(JointId joint) const { return node_of_joint_[joint.index()]; }
  /// The document's joint that became this one of the character; none for new joints.
  std::optional<JointId> originalOf(JointId joint) const;
  Json& node(std::size_t index) { return context_.out.root["nodes"][index]; }
  /// Adds a node below another, or to the scene.
  std::size_t addNode(Json json, std::optional<std::size_t> parent);
  /// What is moved must have no matrix: gives the joint's node translation, rotation and scale.
  void splitMatrix(JointId joint);
  /// Gives these nodes' roots a common one, as the joints of a glTF skin must have.
  void shareRoot(const std::vector<std::size_t>& nodes);

 private:
  void keepDocumentNodes();
  void writeJoint(std::size_t joint);
  /// For a node that hangs nowhere yet. Parent -1 = the scene.
  void hang(std::size_t node, int parent);
  void setParent(std::size_t node, int parent);
  void addToScene(std::size_t node);
  void removeFromScenes(std::size_t node);

  WriteContext& context_;
  bool keeps_nodes_ = false;
  std::vector<std::size_t> node_of_joint_;
  std::vector<int> parent_;  ///< per node, kept up to date
  std::optional<std::size_t> common_root_;
};

}  // namespace derm::detail::gltf
