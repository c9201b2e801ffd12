#pragma once

#include <optional>

#include "derm/face/face_rig.h"

namespace derm::detail {

/// Gives a character the joints and rows of a face rig whose weights are known; no clips, and lids
/// as the weights have them. `head`: of a character with a skin what carries the face, where that
/// is known; else as FaceRigDesc::head_joint says. Requires weights of its mesh.
Result<FaceRig> addRigOfWeights(Character& character, const FacePoints& points,
                                const FaceWeights& weights, const FaceRigDesc& desc,
                                std::optional<JointId> head, Diagnostics& notes);

}  // namespace derm::detail
