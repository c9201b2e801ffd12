#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/vec.h"

namespace derm {

/// For each vertex the smallest index of a vertex at the same place: the welding map that undoes
/// the splits of texture seams and hard edges. With tolerance 0 positions must be equal; otherwise
/// vertices within `tolerance_m` are joined, chains of them too. O(n log n), independent of order
/// except for the choice of the smallest index.
std::vector<std::uint32_t> weldMap(std::span<const Vec3f> positions, float tolerance_m = 0.0f);

/// How many different places a welding map has.
std::size_t weldedCount(std::span<const std::uint32_t> map);

}  // namespace derm
