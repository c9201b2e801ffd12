#pragma once

#include <span>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/character/character.h"

namespace derm::testing_support {

/// Positions by the textbook's sum over influences, for tests below the room that skins.
inline std::vector<Vec3f> blended(const Character& c, std::span<const Affine3d> model) {
  std::vector<Affine3f> palette(c.skin.slots.size());
  skinningMatrices(c.skin, model, palette);
  std::vector<Vec3f> out;
  for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v) {
    Vec3f p = Vec3f::Zero();
    for (const Influence& i : c.skin[v]) p += i.weight * (palette[i.slot] * c.mesh.positions[v]);
    out.push_back(p);
  }
  return out;
}

}  // namespace derm::testing_support
