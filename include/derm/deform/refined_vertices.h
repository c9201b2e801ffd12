#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "derm/deform/layer.h"
#include "derm/math/vec.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// Takes what is known per vertex of a surface (a shape at rest, a channel) on to one that layers
/// have refined from it: a vertex they added follows the triangle of the character that it was cut
/// from, by the mean of that triangle's corners, weighted by where it lies. Immutable; 40 bytes per
/// added vertex.
class RefinedVertices {
 public:
  /// Requires that `surface` is the character's, or one refined from it: the character's vertices
  /// first, and a source triangle for each triangle. `known_count`: how many of its vertices are
  /// not computed, at least the character's.
  RefinedVertices(const TriMesh& character, std::size_t known_count, const BoundSurface& surface);

  std::size_t vertexCount() const { return known_count_ + added_.size(); }
  /// [m] per vertex of the surface, from `known` [m] per known one: `known` itself where nothing
  /// was added, else `space`, of at least vertexCount() entries. Allocation-free.
  std::span<const Vec3f> positions(std::span<const Vec3f> known,
                                   std::span<Vec3f> space) const noexcept;
  /// How much space positions() needs.
  std::size_t spaceCount() const { return added_.empty() ? 0 : vertexCount(); }
  /// Fills the entries of added vertices, as far as `values` has them, from those of the known.
  void carry(std::span<float> values) const noexcept;

 private:
  struct Added {
    Triangle corners{};
    std::array<float, 3> parts{};
    Vec3f off = Vec3f::Zero();  ///< [m] from the corners' mean to the vertex, at rest
  };
  std::size_t known_count_ = 0;
  std::vector<Added> added_;
};

}  // namespace derm
