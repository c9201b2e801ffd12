#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <assimp/scene.h>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"

namespace derm::detail::assimp {

inline Vec3f vec(const aiVector3D& v) { return {v.x, v.y, v.z}; }
Affine3d affine(const aiMatrix4x4& m);
inline std::string text(const aiString& s) { return {s.data, s.length}; }

/// The scene's nodes, parents before children, in the file's order.
struct NodeList {
  std::vector<const aiNode*> nodes;
  std::vector<std::uint32_t> parents;                      ///< 0xFFFFFFFF for the root
  std::unordered_map<std::string, std::uint32_t> by_name;  ///< the first of each name
};
NodeList listNodes(const aiScene& scene);

/// Every node as a joint. A node whose matrix has shear is noted.
Skeleton skeletonOf(const NodeList& nodes, std::string_view file, Diagnostics& notes);

/// Mesh, instances, parts, morphs, and the skin where `with_skin`. `skeleton` has one joint per
/// node.
Result<void> addMeshes(const aiScene& scene, const NodeList& nodes, const Skeleton& skeleton,
                       bool with_skin, std::string_view file, Character& character,
                       Diagnostics& notes);

/// Clips of all animations; joints are nodes, morph tracks drive the instances of `character`.
void addClips(const aiScene& scene, const NodeList& nodes, std::string_view file,
              Character& character, Diagnostics& notes);

void addMaterials(const aiScene& scene, std::string_view file, Character& character,
                  Diagnostics& notes);

}  // namespace derm::detail::assimp
