#pragma once

#include <span>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/character/character.h"
#include "derm/mesh/morph_target.h"

namespace derm {

/// The shapes of a character as shapes of its whole mesh: morph targets of one name on several
/// instances (skin, teeth, lashes as files keep them) are one. In the order of their first.
std::vector<MorphTarget> shapesOf(const Character& character);

/// Gives a character these shapes: every instance that any of them moves gets all of them, in their
/// order, so that players that set weights by name or by number find the same on each. Shapes of
/// the same name are replaced, others stay behind the new ones. Tracks of morph weights go with the
/// shapes that they drove (note: shapes-tracks-dropped), and clips of nothing else, since numbers
/// change. Requires shapes valid for the mesh.
void setShapes(Character& character, std::span<const MorphTarget> shapes, Diagnostics& notes);

}  // namespace derm
