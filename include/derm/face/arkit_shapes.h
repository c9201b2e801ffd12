#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/face/expressions.h"
#include "derm/face/face_points.h"
#include "derm/mesh/morph_target.h"

namespace derm {

/// What one of the 52 face shapes (ARKit's names, see expression_names.h) does to the control
/// points of a face: displacements in the face's own units and directions. The table is ours, after
/// what the action units do and what the shapes of a scanned model (ICT FaceKit) do at these
/// points; a blink brings the lids' points together exactly, and mouthClose undoes what jawOpen
/// does to the lips. tongueOut moves nothing: no control point is on a tongue. Fails on an unknown
/// name (with the nearest) and on points that validateControlPoints() rejects.
Result<std::vector<PointDisplacement>> faceShapeDisplacements(std::string_view shape,
                                                              const FacePoints& points);

/// The 52 shapes of a head, in ARKit's order, by posing its control points: the head needs no
/// artist's shapes, only its control points (Character::points). A rig that it has is used, else
/// the procedural one (face_rig.h) is made for the purpose.
///
/// Afterwards lid margins meet along their whole length in a blink, and lips in mouthClose on top
/// of jawOpen, where the surface opens (face_slits.h). The eyeballs, where they are pieces of the
/// mesh, turn in the shapes of looking. A tongue's own piece is not moved by tongueOut: the shape
/// is empty, and a note says so (shapes-empty). Errors: no control points, or such as
/// validateControlPoints() rejects. Notes: as addFaceRig() and findFaceSlits().
Result<std::vector<MorphTarget>> arkitShapes(const Character& head, Diagnostics& notes,
                                             const Progress& progress = {});
/// One of them alone. Fails on an unknown name too.
Result<MorphTarget> arkitShape(const Character& head, std::string_view name, Diagnostics& notes);

}  // namespace derm
