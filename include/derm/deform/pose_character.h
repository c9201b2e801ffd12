#pragma once

#include "derm/anim/pose.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/deform/skinning.h"

namespace derm {

/// The character's mesh in a pose: morph targets added, then skinned. For one instant; to play a
/// motion bind a Stack (stack.h) once. A character without a skin is only morphed. Fails where the
/// pose does not fit the character (numbers of joints and morphs) or the character is not valid.
Result<TriMesh> poseCharacter(const Character& character, const Pose& pose, SkinningMethod method);

}  // namespace derm
