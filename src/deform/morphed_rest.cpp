#include "derm/deform/morphed_rest.h"

#include <algorithm>

#include "derm/base/assert.h"
#include "derm/base/parallel.h"
#include "derm/mesh/triangle_tree.h"

namespace derm {

MorphedRest::MorphedRest(const TriMesh& character, const BoundSurface& surface)
    : own_count_(character.vertexCount()) {
  const TriMesh& rest = surface.rest;
  DERM_REQUIRE(rest.vertexCount() >= own_count_);
  if (rest.vertexCount() == own_count_) return;
  DERM_REQUIRE(surface.source_triangles.size() == rest.triangles.size());
  added_.resize(rest.vertexCount() - own_count_);
  std::vector<char> found(added_.size(), 0);
  for (std::size_t t = 0; t < rest.triangles.size(); ++t)
    for (const std::uint32_t v : rest.triangles[t]) {
      if (v < own_count_ || found[v - own_count_] != 0) continue;
      found[v - own_count_] = 1;
      Added& added = added_[v - own_count_];
      added.corners = character.triangles[surface.source_triangles[t]];
      const auto corner = [&](std::size_t k) {
        return Vec3d(character.positions[added.corners[k]].cast<double>());
      };
      const Vec3d at = rest.positions[v].cast<double>();
      const Vec3d parts = closestOnTriangle(at, corner(0), corner(1), corner(2));
      for (std::size_t k = 0; k < 3; ++k)
        added.parts[k] = static_cast<float>(parts[static_cast<int>(k)]);
    }
  for (std::size_t n = 0; n < added_.size(); ++n) {
    Added& added = added_[n];
    added.off = rest.positions[own_count_ + n];  // a vertex without triangles stays where it is
    for (std::size_t k = 0; k < 3; ++k)
      added.off -= added.parts[k] * character.positions[added.corners[k]];
  }
}

std::span<const Vec3f> MorphedRest::evaluate(std::span<const Vec3f> morphed,
                                             std::span<Vec3f> space) const noexcept {
  DERM_REQUIRE(morphed.size() == own_count_ && space.size() >= spaceCount());
  if (added_.empty()) return morphed;
  std::copy(morphed.begin(), morphed.end(), space.begin());
  parallelFor(added_.size(), 4096, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      const Added& added = added_[n];
      Vec3f sum = added.off;
      for (std::size_t k = 0; k < 3; ++k) sum += added.parts[k] * morphed[added.corners[k]];
      space[own_count_ + n] = sum;
    }
  });
  return space.first(vertexCount());
}

}  // namespace derm
