#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "derm/character/character.h"
#include "derm/weights/auto_weights.h"

namespace derm {

/// Which joints of a character are bones, when nobody says so. A character's skeleton holds every
/// node of its file: cameras, lights and meshes too. In this order:
///  1. the joints that a skin (not only a rigid prop) gives weight to;
///  2. else, of the tree with the most joints (the first of equals), the joints without mesh that
///     are left after its top is cut: single joints above the first fork (an armature, a scene
///     root) go, and in a chain without a fork those at the same position as the next one;
///  3. else all joints of that tree.
/// Empty only where the skeleton is. The order is that of the skeleton.
std::vector<JointId> defaultBones(const Character& character);

/// Whether there is anything to follow but the meshes' own nodes: a joint that a skin gives weight
/// to, or one at an end of the tree that carries no mesh. A mesh on a bare node has no skeleton,
/// nor has a robot whose rigid parts hang on each other.
bool hasSkeleton(const Character& character);

/// Joint-to-model matrices in the pose the mesh is in: the inverse of each joint's inverse bind
/// where the skin has one (and it can be inverted), the rest pose relative to the parent elsewhere.
std::vector<Affine3d> bindModelMatrices(const Character& character);

/// Warns ("skeleton-size", about `element`) where the joints of `bones` span a box several times as
/// large or as small as the mesh's, as they do where one of two files is read in a wrong unit. A
/// single joint, or an empty mesh, has no size to compare.
void checkSkeletonSize(const TriMesh& mesh, std::span<const JointId> bones,
                       std::span<const Affine3d> bind_model, std::string_view element,
                       Diagnostics& notes);

/// New weights for a character, by autoWeights. `bones` empty = defaultBones().
/// Rigid props (MeshInstance::rigid) keep their joint, unless all instances are rigid: a mesh that
/// only hangs beside a skeleton is what weights are wanted for. Where such a mesh hung on one of
/// the bones, it is noted by name ("rigid-part-weighted"): it bends from now on. Meshes whose skins
/// bind the same joints differently are weighted one group after the other, each in its own bind
/// pose. Slots of the result: those of each group in the order of `bones`, then those of props.
/// Fails as autoWeights does, and where `bones` is empty and the character has no skeleton.
Result<Skin> autoWeights(const Character& character, std::span<const JointId> bones,
                         const AutoWeightsDesc& desc, Diagnostics& notes,
                         const Progress& progress = {});

}  // namespace derm
