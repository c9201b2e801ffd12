#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/vec.h"

namespace derm::detail {

/// [m] The positions of a chain of vertices.
std::vector<Vec3d> positionsOf(std::span<const std::uint32_t> chain,
                               std::span<const Vec3f> positions);

/// [m] Where a margin, a line of positions that goes along `along`, is as far along it as `p`; its
/// nearer end where it does not go that far. Requires a position.
Vec3d besideOnMargin(std::span<const Vec3d> margin, const Vec3d& along, const Vec3d& p);

}  // namespace derm::detail
