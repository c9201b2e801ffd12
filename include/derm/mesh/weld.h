#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/vec.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// For each vertex the smallest index of a vertex at exactly the same position: the welding map
/// that undoes the splits of texture seams and hard edges. O(n log n).
std::vector<std::uint32_t> weldMap(std::span<const Vec3f> positions);

/// Faces that lie on each other back to back, as both sides of cloth, hair cards and lashes do.
struct DoubledFaces {
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  std::vector<std::uint32_t> partner;  ///< per triangle the one behind it, or kNone
  /// Per doubled triangle the first of those that it hangs together with on its own side, else
  /// kNone. The two sides are one where they share vertices.
  std::vector<std::uint32_t> side;
  bool any = false;
};

/// Of triangles whose corners are welded (weldMap()). `triangles` are the same with their own
/// vertices. O(n log n).
DoubledFaces findDoubledFaces(std::span<const Triangle> welded,
                              std::span<const Triangle> triangles);

/// As weldMap(), but the two sides of what is doubled stay apart from each other and from all else
/// that they touch: by position alone, a lash and the lid it stands on would be a knot in which no
/// edge has one triangle on either side, and normals would cancel out.
std::vector<std::uint32_t> weldMap(std::span<const Vec3f> positions,
                                   std::span<const Triangle> triangles);

/// How many different positions a welding map has.
std::size_t weldedCount(std::span<const std::uint32_t> map);

}  // namespace derm
