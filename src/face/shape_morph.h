#pragma once

#include <span>
#include <vector>

#include "derm/mesh/morph_target.h"
#include "derm/mesh/tri_mesh.h"

#include "face/welded_mesh.h"

namespace derm::detail {

/// [m] of the box around all vertices.
double diagonalOf(const TriMesh& mesh);

/// Turns displacements of points into morph targets of a mesh: sparse, with normals.
class MorphMaker {
 public:
  /// Keeps references to both.
  MorphMaker(const TriMesh& mesh, const WeldedMesh& welded);

  /// Without a name. What moves less than 1e-6 of the mesh's diagonal is left out, unless its
  /// normal turns. `base`, where not empty, is a shape that this one is used on top of: normals are
  /// then right for the sum of both.
  MorphTarget make(std::span<const Vec3d> shape, std::span<const Vec3d> base = {}) const;

 private:
  void add(std::span<const Vec3d> shape, std::vector<Vec3f>& positions) const;

  const TriMesh& mesh_;
  const WeldedMesh& welded_;
  std::vector<std::uint32_t> weld_;
  std::vector<Vec3f> rest_normals_;
  double smallest_m_ = 0;
};

}  // namespace derm::detail
