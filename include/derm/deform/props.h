#pragma once

#include <cstdint>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/character/character.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// 1 for vertices of rigid meshes, which hang on nodes of their own: swords, hats. `rest` and
/// `skin` are a surface of the character, whose vertices come first; those that a layer added
/// behind them are told by the slots they follow. Empty where there are none, or nothing else.
std::vector<std::uint8_t> rigidMeshVertices(const Character& character, const Skin& skin);

/// The same, and pieces of skinned meshes (seams welded) that follow one bone alone, where skin
/// that bends has at least as many vertices that follow it most: a shield on a forearm, not the
/// head of a figure that is put together of rigid parts.
std::vector<std::uint8_t> propVertices(const Character& character, const TriMesh& rest,
                                       const Skin& skin);

}  // namespace derm
