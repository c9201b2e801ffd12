#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/deform/stack.h"

/// Private to room scene.
namespace derm::detail {

/// The part that each triangle of the character belongs to.
std::vector<std::uint32_t> partOfTriangle(const Character& character);

/// Labelled points on the pieces of the triangles they lay on; without pieces they are gone.
/// `sources`: per triangle of `fine` the character's that it is a piece of.
std::vector<LabelledPoint> pointsOnPieces(const Character& character, const TriMesh& fine,
                                          std::span<const std::uint32_t> sources);

/// A character on the vertices that a stack hands on.
struct RefinedCharacter {
  std::shared_ptr<const Character> character;
  /// Per vertex of the character that of the stack's output; empty = the same.
  std::vector<std::uint32_t> vertices;
};

/// The stack's character with its mesh as fine as the stack's last layer makes it, at rest:
/// skeleton, clips, materials and mesh instances stay, vertices that layers add have the weights
/// that the layers gave them (no more than four, or than the character's own vertices have where
/// that is more), and morphs go on to them. Null where no layer refines. Fails on a
/// layer that does not tell what its triangles were cut from.
Result<RefinedCharacter> refinedCharacter(const Stack& stack);

}  // namespace derm::detail
