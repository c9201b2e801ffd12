#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "derm/anim/skeleton.h"

#include "io/gltf/document.h"

namespace derm::detail::gltf {

/// Keys of ours in `extras`.
inline constexpr const char* kCarrierKey = "derm_carrier";
inline constexpr const char* kCarrierJointKey = "derm_joint";
inline constexpr const char* kCommonRootKey = "derm_root";

/// A node of the chosen scene that shows a mesh.
struct MeshNode {
  std::size_t node = 0;
  std::size_t mesh = 0;
  std::optional<std::size_t> skin;
  JointId joint;  ///< the instance's; invalid for a carrier without one
};

/// All nodes as joints, and which of them show something.
///
/// Carriers: glTF can only show a mesh on a node, while an instance of a Character needs none. Our
/// writer then adds a bare node marked {"derm_carrier": true} in its extras; such a node becomes no
/// joint, so that writing and reading give the same skeleton. The same holds for {"derm_root":
/// true}, a node without transform above the roots of a skin's joints, since glTF wants them to
/// have one.
struct SceneNodes {
  Skeleton skeleton;
  std::vector<int> joint_source;       ///< per joint its node
  std::vector<JointId> joint_of_node;  ///< invalid for carriers and common roots
  std::vector<int> parent_of_node;     ///< -1 for roots
  std::vector<bool> in_scene;          ///< per node, whether the chosen scene shows it
  std::vector<MeshNode> mesh_nodes;    ///< in the order of their nodes
};

/// Checks that nodes form a forest. Never recurses: node chains may be as long as the file.
Result<SceneNodes> readScene(const ReadContext& context);

/// The scene whose mesh nodes are read, if the document has any.
Result<std::optional<std::size_t>> chosenScene(const ReadContext& context);

}  // namespace derm::detail::gltf
