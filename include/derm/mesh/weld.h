#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/vec.h"

namespace derm {

/// For each vertex the smallest index of a vertex at exactly the same position: the welding map
/// that undoes the splits of texture seams and hard edges. O(n log n).
std::vector<std::uint32_t> weldMap(std::span<const Vec3f> positions);

/// How many different positions a welding map has.
std::size_t weldedCount(std::span<const std::uint32_t> map);

}  // namespace derm
