#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "derm/math/vec.h"

namespace derm {

/// A narrow-band level set as plain data, for files: blocks of 8 x 8 x 8 nodes around a surface.
/// Node (8 X + x, 8 Y + y, 8 Z + z) of block (X, Y, Z) is entry x + 8 y + 64 z of its values and
/// stands at origin + voxel_m times its number. Distances are in voxels, > 0 inside.
struct LevelSetBlocks {
  double voxel_m = 0.01;
  Vec3d origin = Vec3d::Zero();  ///< [m]
  float width = 2.5f;            ///< [voxel] values are clamped to +-this
  std::vector<std::array<std::int32_t, 3>> blocks;
  std::vector<float> values;  ///< 512 per block
  /// Coordinates of missing blocks that are inside.
  std::vector<std::array<std::int32_t, 3>> inside;
};

}  // namespace derm
