#pragma once

#include <span>
#include <vector>

#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"

namespace derm::detail::maps {

/// The triangles of the connected piece of the surface that most of the points are on: the skin,
/// without eyes, teeth and lashes, whose charts may lie on the skin's since they have textures of
/// their own. Vertices at one position are one.
std::vector<Triangle> skinTriangles(const TriMesh& mesh, std::span<const LabelledPoint> points);

/// The texture coordinates of a mesh, moved by whole textures so that most of the points lie
/// between 0 and 1 (squareOfMost()). Requires texture coordinates.
std::vector<Vec2f> uvsAtPoints(const TriMesh& mesh, std::span<const LabelledPoint> points);

}  // namespace derm::detail::maps
