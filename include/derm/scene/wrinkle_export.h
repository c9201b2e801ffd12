#pragma once

#include <cstdint>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/scene/scene.h"

namespace derm {

/// The scene's character as a .glb that other programs can play wrinkle maps of: with the maps of
/// its detail layers in their material, and in the file's top-level extras, as "derm_wrinkles",
/// all that alpha and beta are computed from (docs/wrinkle-maps.md describes every key). Without
/// that, programs show the character as ever. Errors: a recipe without a detail layer, or with one
/// whose poses have no maps; what encodeGlb() refuses.
Result<std::vector<std::uint8_t>> encodeWrinkleGlb(const Scene& scene, Diagnostics& notes);

}  // namespace derm
