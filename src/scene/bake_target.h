#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/deform/stack.h"
#include "derm/scene/scene.h"

/// Private to room scene.
namespace derm::detail {

/// What corrective shapes are fitted to and written with: the scene's character, or the same with
/// its mesh refined once and its weights pruned. Poses and clips of the one are those of the other.
struct BakeTarget {
  std::shared_ptr<const Character> character;
  /// Per vertex that of the scene's surface; empty = the same.
  std::vector<std::uint32_t> vertices;
  std::shared_ptr<const Stack> plain;      ///< morphs and linear skinning: what engines play
  std::shared_ptr<const Stack> unskinned;  ///< morphs alone; null where there are none
};

/// `influences`: as many per vertex at most; absent = all of them. Fails where a layer does not
/// tell what its triangles were cut from.
Result<BakeTarget> makeBakeTarget(const Scene& scene, std::optional<std::size_t> influences);

}  // namespace derm::detail
