#pragma once

#include "derm/base/result.h"
#include "derm/implicit/potential.h"
#include "derm/mesh/level_set_blocks.h"

namespace derm {

/// A potential as plain data for a file, and back. What the data says about the inside is taken
/// where it says something; otherwise what cannot be reached from outside is inside.
LevelSetBlocks levelSetOf(const Potential& potential);
/// Errors: counts that do not fit, numbers that are not finite, coordinates beyond the lattice, no
/// surface at all.
Result<Potential> potentialOf(const LevelSetBlocks& level_set);

}  // namespace derm
