#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/mesh/morph_target.h"
#include "derm/mesh/tri_mesh.h"

namespace derm::detail {

/// [m] of the box around all vertices.
double diagonalOf(const TriMesh& mesh);

/// Turns displacements of points into morph targets of a mesh: sparse, with normals.
class MorphMaker {
 public:
  /// Keeps references to both. `of_vertex`: per vertex of the mesh its point, one for all vertices
  /// at a position.
  MorphMaker(const TriMesh& mesh, std::span<const std::uint32_t> of_vertex);

  /// Without a name. `shape`: [m] per point. What moves less than 1e-6 of the mesh's diagonal is
  /// left out, unless its normal turns. `base`, where not empty, is a shape that this one is used
  /// on top of: normals are then right for the sum of both.
  MorphTarget make(std::span<const Vec3d> shape, std::span<const Vec3d> base = {}) const;

 private:
  /// Adds a shape to positions, and brings their normals up to date.
  void add(std::span<const Vec3d> shape, std::vector<Vec3f>& positions,
           std::vector<Vec3f>& normals) const;

  const TriMesh& mesh_;
  std::span<const std::uint32_t> of_vertex_;
  std::vector<std::uint32_t> weld_;
  std::vector<Vec3f> rest_normals_;
  double smallest_m_ = 0;
};

}  // namespace derm::detail
