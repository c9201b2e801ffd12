#include "derm/deform/refined_vertices.h"

#include <algorithm>

#include "derm/base/assert.h"
#include "derm/base/parallel.h"
#include "derm/mesh/triangle_tree.h"

namespace derm {

RefinedVertices::RefinedVertices(const TriMesh& character, std::size_t known_count,
                                 const BoundSurface& surface)
    : known_count_(known_count) {
  const TriMesh& rest = surface.rest;
  DERM_REQUIRE(known_count_ >= character.vertexCount() && rest.vertexCount() >= known_count_);
  if (rest.vertexCount() == known_count_) return;
  DERM_REQUIRE(surface.source_triangles.size() == rest.triangles.size());
  added_.resize(rest.vertexCount() - known_count_);
  std::vector<char> found(added_.size(), 0);
  for (std::size_t t = 0; t < rest.triangles.size(); ++t)
    for (const std::uint32_t v : rest.triangles[t]) {
      if (v < known_count_ || found[v - known_count_] != 0) continue;
      found[v - known_count_] = 1;
      Added& added = added_[v - known_count_];
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
    added.off = rest.positions[known_count_ + n];  // a vertex without triangles stays where it is
    for (std::size_t k = 0; k < 3; ++k)
      added.off -= added.parts[k] * character.positions[added.corners[k]];
  }
}

std::span<const Vec3f> RefinedVertices::positions(std::span<const Vec3f> known,
                                                  std::span<Vec3f> space) const noexcept {
  DERM_REQUIRE(known.size() == known_count_ && space.size() >= spaceCount());
  if (added_.empty()) return known;
  std::copy(known.begin(), known.end(), space.begin());
  parallelFor(added_.size(), 4096, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      const Added& added = added_[n];
      Vec3f sum = added.off;
      for (std::size_t k = 0; k < 3; ++k) sum += added.parts[k] * known[added.corners[k]];
      space[known_count_ + n] = sum;
    }
  });
  return space.first(vertexCount());
}

void RefinedVertices::carry(std::span<float> values) const noexcept {
  DERM_REQUIRE(values.size() >= known_count_ && values.size() <= vertexCount());
  for (std::size_t v = known_count_; v < values.size(); ++v) {
    const Added& added = added_[v - known_count_];
    float sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += added.parts[k] * values[added.corners[k]];
    values[v] = sum;
  }
}

}  // namespace derm
