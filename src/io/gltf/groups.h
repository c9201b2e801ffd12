#pragma once

#include "io/gltf/geometry_reader.h"

namespace derm::detail::gltf {

/// Vertex groups, which glTF has no word for, live in a mesh's extras:
/// "derm_groups": [{"name": "hip", "vertices": [3, 4], "strengths": [1, 0.5]}]
/// with vertices counted from the instance's first. Wrong ones are noted and left out.
Result<void> readGroups(const ReadContext& context, Import& import);

/// The groups' share in one instance, empty ones too so that their order is kept; null where there
/// are no groups.
Json groupsToJson(const TriMesh& mesh, const MeshInstance& instance);

}  // namespace derm::detail::gltf
