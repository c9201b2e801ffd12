#pragma once

#include <string>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/character/character.h"
#include "derm/mesh/tri_mesh.h"

/// A shelf of meshes, plain and nasty, that suites iterate over.
namespace derm::shelf {

struct ShelfMesh {
  std::string name;
  TriMesh mesh;  ///< with normals
  bool closed = false;
};

TriMesh cube(float size = 1.0f);                ///< 8 shared vertices, closed
TriMesh cubeWithSplitFaces(float size = 1.0f);  ///< 24 vertices: closed only after welding
TriMesh sphere(int rings, int sectors, float radius, Vec3f centre = Vec3f::Zero());  ///< closed
TriMesh tube(int rings, int sectors, float radius, float length);  ///< open at both ends, along z

/// Empty, one triangle, open, closed, non-manifold, duplicate vertices, zero-area face, two pieces,
/// huge and tiny scale, unreferenced vertices, inside-out.
std::vector<ShelfMesh> all();
std::vector<ShelfMesh> closedOnes();

/// A three-joint chain through the mesh's bounds (along its longest side) and smooth weights of up
/// to three influences, so that any mesh can be posed. Two clips: "bend" (rotation keys) and
/// "stretch" (scale and translation keys).
Character rigged(const ShelfMesh& shelf_mesh);

}  // namespace derm::shelf
