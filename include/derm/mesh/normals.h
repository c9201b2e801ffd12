#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/tri_mesh.h"

namespace derm {

/// Unit vertex normals: sum of the triangles' normals weighted by area. Vertices with nothing
/// around them (or only zero-area triangles) get +Y, so no normal is ever NaN or zero.
/// `weld` (see weld.h), where not empty, gives vertices at one position the same normal.
std::vector<Vec3f> areaWeightedNormals(std::span<const Vec3f> positions,
                                       std::span<const Triangle> triangles,
                                       std::span<const std::uint32_t> weld = {});

/// Brings areaWeightedNormals() of the same triangles up to date where vertices have moved since:
/// to the same bits, at the cost of what is around them. `moved`: of the vertices that stand for
/// others in `weld`, which must not be empty.
void updateAreaWeightedNormals(std::span<const Vec3f> positions,
                               std::span<const Triangle> triangles,
                               std::span<const std::uint32_t> weld, const std::vector<bool>& moved,
                               std::span<Vec3f> normals);

/// Tangents from positions, normals and uvs: per-triangle uv gradients weighted by corner angle,
/// made orthogonal to the normal; w is the sign of the uv orientation, as MikkTSpace defines it for
/// tangent.w. Vertices on a mirrored-uv seam must be split already, as glTF meshes are. Vertices
/// without usable uvs get any unit vector orthogonal to the normal.
std::vector<Vec4f> uvTangents(const TriMesh& mesh);

}  // namespace derm
