#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/deform/layer.h"
#include "derm/math/vec.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// Takes a character's morphed rest shape (SkinFrame::morphedRest) on to the surface that a layer
/// is bound to. Where layers below have refined it, a vertex they added moves with the triangle it
/// was cut from, by the mean of what that triangle's corners move, weighted by where it lies.
/// Immutable; 40 bytes per added vertex.
class MorphedRest {
 public:
  /// Requires that `surface` is the character's, or one refined from it: the character's vertices
  /// first, and a source triangle for each triangle.
  MorphedRest(const TriMesh& character, const BoundSurface& surface);

  std::size_t vertexCount() const { return own_count_ + added_.size(); }
  /// [m] per vertex of the surface, from `morphed` [m] per vertex of the character: `morphed`
  /// itself where nothing was added, else `space`, of at least vertexCount() entries.
  /// Allocation-free.
  std::span<const Vec3f> evaluate(std::span<const Vec3f> morphed,
                                  std::span<Vec3f> space) const noexcept;
  /// How much space evaluate() needs.
  std::size_t spaceCount() const { return added_.empty() ? 0 : vertexCount(); }

 private:
  struct Added {
    Triangle corners{};
    std::array<float, 3> parts{};
    Vec3f off = Vec3f::Zero();  ///< [m] from the corners' mean to the vertex, at rest
  };
  std::size_t own_count_ = 0;
  std::vector<Added> added_;
};

}  // namespace derm
