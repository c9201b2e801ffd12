#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/tri_mesh.h"
#include "derm/weights/bone_segments.h"

/// Private to room weights: what the weight methods work on.
namespace derm::detail {

/// A mesh and its bones made easy to compute with: coincident vertices joined, triangles without
/// three different corners gone, everything moved to the origin and scaled to unit size (bounding
/// diagonal 1), so that no tolerance depends on units.
struct WeldedSurface {
  std::vector<Vec3d> positions;                 ///< one per welded vertex
  std::vector<Triangle> triangles;              ///< of welded vertices
  std::vector<std::uint32_t> welded_of_vertex;  ///< per vertex of the mesh
  std::vector<std::uint32_t> first_vertex;      ///< per welded vertex its first vertex of the mesh
  std::vector<BoneSegment> bones;               ///< in the same space
  std::size_t slot_count = 0;
  double rounding = 0;  ///< how far positions may be off, for being stored as float

  std::size_t size() const { return positions.size(); }
};

WeldedSurface weldedSurface(const TriMesh& mesh, std::span<const BoneSegment> bones,
                            std::size_t slot_count, bool weld);

}  // namespace derm::detail
