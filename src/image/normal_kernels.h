#pragma once

#include <cstddef>
#include <span>

#include "derm/image/normal_map.h"

/// Private to room image: blending of normal maps, for the CPU's instruction set.
namespace derm::detail {

/// A map over a run of pixels.
struct LayerRun8 {
  const Rgba8* normals = nullptr;
  float strength = 1;
  const float* strengths = nullptr;  ///< per pixel, or none
};

/// blendNormals() over `n` pixels. `green`: 1 or -1. `blended` may be `base`. Every pixel by itself
/// and by the same operations on every CPU: the same bytes.
void blendRun8(const Rgba8* base, std::span<const LayerRun8> layers, NormalBlend blend, float green,
               std::size_t n, Rgba8* blended) noexcept;

}  // namespace derm::detail
