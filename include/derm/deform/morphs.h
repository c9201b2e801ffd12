#pragma once

#include <span>

#include "derm/deform/surface_streams.h"
#include "derm/mesh/morph_target.h"

namespace derm {

/// Adds weight times target to a surface in place: positions, and normals and tangents where both
/// the target and the surface have them (which then come out with unit length; one of no length
/// left becomes +Y). Targets of weight 0 cost nothing. Requires valid targets for this many
/// vertices and one finite weight per target. Allocation-free.
void addMorphs(std::span<const MorphTarget> targets, std::span<const float> weights,
               const SurfaceOutput& surface) noexcept;

}  // namespace derm
