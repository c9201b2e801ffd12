#pragma once

#include "deform/skinning_blocks.h"
#include "deform/skinning_palette.h"

namespace derm::detail {

/// What one call of the kernels reads and writes. Streams are in the caller's order; null = absent.
struct SkinningFrame {
  const SkinningBlocks* blocks = nullptr;
  const SkinningPalette* palette = nullptr;
  float alpha = 0;  ///< of the centre method
  // Null: use the bound rest surface.
  const float* in_positions = nullptr;
  const float* in_normals = nullptr;
  const float* in_tangents = nullptr;
  float* out_positions = nullptr;
  float* out_normals = nullptr;
  float* out_tangents = nullptr;
};

/// Skins tiles [begin, end) with the best kernels this CPU has.
void skinTiles(const SkinningFrame& frame, std::size_t begin, std::size_t end);

}  // namespace derm::detail
