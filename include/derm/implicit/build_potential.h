#pragma once

#include <cstdint>
#include <optional>

#include "derm/base/result.h"
#include "derm/implicit/potential.h"
#include "derm/implicit/target.h"

namespace derm {

struct PotentialDesc {
  double voxel_m = 0.01;         ///< [m] > 0; features below three voxels are lost
  Vec3d origin = Vec3d::Zero();  ///< [m] position of a lattice node
  float band_width = 2.5f;       ///< [voxel] 2 to 6, on each side of the surface
  std::uint64_t max_memory = std::uint64_t{4} << 30;  ///< [bytes] of the band and its work space
};

/// [bytes] a skin needs per block, work space included; what max_memory is counted in.
std::uint64_t skinBytesPerBlock();

/// The narrow band of a target's surface: signed distances in voxels, from samples on the lattice
/// whose signs are kept and whose slope is then made 1. Space without surface is left out by
/// Target::rangeIn, so targets that bound themselves well cost O(surface).
/// Errors: a target without inside (or whose inside slips between the nodes), bounds that are not
/// finite or beyond the lattice, a voxel size that is not positive, more memory than allowed
/// (before it is taken).
Result<Potential> buildPotential(const Target& target, const PotentialDesc& desc);

}  // namespace derm
