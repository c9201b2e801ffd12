#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/face/head_registration.h"

namespace derm {

/// A head that has its 28 control points, for those of others to be found by. Made when it is
/// needed: the first may do.
struct ReferenceHead {
  std::string name;
  std::function<Result<Character>()> make;
};

/// The control points of a head that came without any.
struct FoundControlPoints {
  std::vector<LabelledPoint> points;  ///< 28, labelled by their numbers
  std::string reference;              ///< the head they came from
  double residual = 0;                ///< of its registration (HeadRegistration::residual)
  double confidence = 0;              ///< [0,1] mean of the points' own
};

/// Finds a head's control points from its shape, by registering heads that have theirs: the first
/// whose fit is good, else the one with the lowest residual of those that fit at all. Where the
/// surface opens between lids, their points and the eye's corners then go to its margins
/// (findFaceSlits()): a registration is off by more than a lid is thick.
///
/// Errors: "cannot find a face: ..." of the first reference where none fits; those of `make`;
/// found points that validateControlPoints() rejects. Notes: as registerHeads(), of the reference
/// that was taken. Cost: a registration for each reference that is tried.
Result<FoundControlPoints> findControlPoints(const TriMesh& head,
                                             std::span<const ReferenceHead> references,
                                             HeadPose pose, Diagnostics& notes,
                                             const Progress& progress = {});

/// The last step of that, for points that a registration has found: those of lips and lids go to
/// borders and margins where the surface opens, the mouth's corners onto the skin beside the ends
/// of its slit. Points under other labels than control points' numbers stay, and all where they
/// would be no control points of a face any more.
void putOnMargins(const TriMesh& head, std::vector<LabelledPoint>& points);

}  // namespace derm
