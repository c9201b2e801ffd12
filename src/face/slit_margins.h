#pragma once

#include <cstdint>
#include <span>

#include "derm/face/face_slits.h"
#include "derm/math/vec.h"

namespace derm::detail {

/// [m] Where a margin (a chain of the slit) is as far along the slit as `p`; its nearer end where
/// it does not go that far. `positions`: of the mesh's vertices.
Vec3d besideOnMargin(const FaceSlit& slit, std::span<const std::uint32_t> chain,
                     std::span<const Vec3f> positions, const Vec3d& p);

}  // namespace derm::detail
