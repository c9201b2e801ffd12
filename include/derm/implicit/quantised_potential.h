#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "derm/base/result.h"
#include "derm/implicit/potential.h"

namespace derm {

/// A potential in 16 bits a node, as in Desbrun, Cani 1997, section 4.2.1: half the memory, for
/// undo, scrubbing and files. The unit is width/32767, so the surface moves by less than 1e-4
/// voxel. Steps themselves run on floats: they are no slower, and motion below the unit would
/// stall.
struct QuantisedPotential {
  double voxel_m = 0.01;
  Vec3d origin = Vec3d::Zero();  ///< [m]
  float width = 2.5f;            ///< [voxel] what 32767 stands for
  std::vector<std::array<std::int32_t, 3>> blocks;
  std::vector<std::int16_t> values;  ///< 512 per block; never 0, so that signs are kept
  /// Coordinates of missing blocks that are inside.
  std::vector<std::array<std::int32_t, 3>> inside;

  std::size_t memoryBytes() const {
    return values.capacity() * sizeof(std::int16_t) +
           (blocks.capacity() + inside.capacity()) * sizeof(blocks[0]);
  }
};

/// `dither_seed` other than 0 adds noise of one unit before rounding, the same for the same seed: a
/// skin that is quantised after every step, with another seed each time, then moves on average as
/// the float one does. Without it slow motion stalls or runs ahead.
QuantisedPotential quantised(const Potential& potential, std::uint64_t dither_seed = 0);
/// Errors: what potentialOf(LevelSetBlocks) refuses.
Result<Potential> dequantised(const QuantisedPotential& quantised);

}  // namespace derm
