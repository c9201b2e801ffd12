#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/result.h"
#include "derm/math/vec.h"

namespace derm {

/// A shape to add with a weight: what moves, and by how much. Sparse over the whole mesh.
struct MorphTarget {
  std::string name;
  float default_weight = 0.0f;
  std::vector<std::uint32_t> vertices;  ///< sorted, no duplicates
  std::vector<Vec3f> positions;         ///< [m] one per entry of `vertices`
  std::vector<Vec3f> normals;           ///< empty, or one per entry
  std::vector<Vec3f> tangents;          ///< empty, or one per entry (w does not change)

  bool operator==(const MorphTarget&) const = default;
};

/// Array lengths agree, vertices sorted and in range, numbers finite.
Result<void> validate(const MorphTarget& morph, std::size_t vertex_count, std::string_view name);

}  // namespace derm
