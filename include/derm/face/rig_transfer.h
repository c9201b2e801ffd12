#pragma once

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/face/face_rig.h"
#include "derm/face/head_correspondence.h"

namespace derm {

struct RigTransferDesc {
  /// Lips and lids are told apart along their slits (face_slits.h), whatever the correspondence
  /// says: no vertex of the upper lip follows the lower one.
  bool separate_sides = true;
  /// The lids' weights are made from the target's own margins (face_weights.h) instead of carried:
  /// what shuts one eye does not shut another of other proportions.
  bool own_lids = true;
  /// On the lips and next to their corners weights are made from the target's own slit too, and go
  /// over into the carried ones around: no correspondence is as exact as lips are thin. Where sides
  /// are separated.
  bool own_lips = true;
  std::size_t max_influences = 4;  ///< [2,29] per vertex, the head's among them
  bool clips = true;               ///< the source's motions of the face, in the target's units
};

/// Gives the target the face rig of the source (face_rig.h): the same joints, at the target's own
/// control points (Character::points, which must be all there), with the source's weights as the
/// correspondence carries them.
///
/// Method: a weight of the target's vertex is the source's at its counterpart, interpolated in the
/// triangle (Dutreve 2011, section 3.4.2, where inverse distances were used: those jump across
/// edges). Where there is no counterpart weights fade out smoothly along the skin, and the head
/// takes the rest; so every vertex is assigned. Pieces beside the skin (eyes, teeth, lashes) get
/// what addFaceRig() gives them. A body that the target has keeps its joints, as there.
/// Clips: translations of the face's joints scaled by the ratio of the two faces' units (mouth
/// widths for lips, lid openings for lids, …), along the faces' own axes; rotations stay. Those
/// that addFaceRig() made are made anew for the target, exactly. Tracks of other joints are left
/// out, and clips without any of the face.
///
/// With source = target weights come out as they are. Errors: a source without a face rig; control
/// points of the target as validateControlPoints() says; a target that has a rig; a correspondence
/// that does not fit; desc out of range. An error or a cancelled transfer leaves the target as it
/// was. Notes as addFaceRig() and findFaceSlits().
Result<FaceRig> transferFaceRig(const Character& source, Character& target,
                                const HeadCorrespondence& correspondence,
                                const RigTransferDesc& desc, Diagnostics& notes,
                                const Progress& progress = {});

}  // namespace derm
