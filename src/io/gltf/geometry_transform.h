#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/vec.h"
#include "derm/mesh/morph_target.h"
#include "derm/mesh/tri_mesh.h"

namespace derm::detail::gltf {

/// Moves geometry by a matrix: into model space on import, back on export. A mirror flips triangles
/// and the sign of tangents, so that surfaces keep their outside. Work is done in double.
class GeometryTransform {
 public:
  GeometryTransform() = default;
  explicit GeometryTransform(const Affine3d& matrix);

  bool identity() const { return identity_; }
  bool mirrors() const { return mirrors_; }
  const Affine3d& matrix() const { return matrix_; }

  void movePositions(std::span<Vec3f> positions) const;
  void moveNormals(std::span<Vec3f> normals) const;  ///< unit length stays, none gets lost
  void moveTangents(std::span<Vec4f> tangents) const;
  void flip(std::span<Triangle> triangles) const;
  /// Offsets of positions, normals and tangents. The last two are scaled as their base vectors
  /// (before the move, one per mesh vertex) are by keeping unit length.
  void moveMorph(MorphTarget& morph, std::span<const Vec3f> base_normals,
                 std::span<const Vec4f> base_tangents) const;

 private:
  Affine3d matrix_ = Affine3d::Identity();
  Mat3d linear_ = Mat3d::Identity();
  Mat3d normal_matrix_ = Mat3d::Identity();
  bool identity_ = true;
  bool mirrors_ = false;
};

/// A unit vector orthogonal to a normal, with w = 1: a tangent where there is none.
Vec4f anyTangent(const Vec3f& normal);

}  // namespace derm::detail::gltf
