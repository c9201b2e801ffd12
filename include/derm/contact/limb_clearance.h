#pragma once

#include <cstddef>
#include <span>

#include "derm/anim/clip.h"
#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/character/character.h"

namespace derm {

/// How far limbs are turned out of the body.
struct LimbClearanceDesc {
  /// [0,1] of its own thickness a limb may stay sunk: what the contact layer takes without denting
  /// the skin much.
  double max_sunk = 0.12;
  double max_turn_rad = 0.8;  ///< [rad] > 0: a limb that needs more is turned by that much
  double rate_hz = 20;        ///< [1/s] > 0: instants that are looked at
  double fade_s = 0.15;       ///< [s] > 0: over which a turn comes and goes
};

struct LimbClearanceReport {
  double largest_turn_rad = 0;  ///< [rad]
  std::size_t instants = 0;     ///< looked at
  std::size_t turned = 0;       ///< of these: in which a limb was sunk too deep
};

/// Turns limbs at the joints they hang on (upper arms) so far that they lie on the body instead of
/// in it, and changes nothing else. A motion recorded on a slim actor puts the arms of a heavy body
/// into its hips: no skin can make that look right, but the pose can.
///
/// At each instant the character is posed by linear skinning, what of a limb is sunk deeper into
/// other skin than max_sunk is found as the contact layer does, and the joint is turned by the
/// least squares of n · (w × r) = what it is too deep by, with ways out n and arms r about the
/// joint, some times over. Turns are then spread over fade_s before and after, so that nothing
/// moves suddenly. Joints without rotation keys in the clip, or with splines, are left alone.
/// Cost: under a millisecond an instant on 13 k vertices, several where limbs are sunk; instants on
/// several threads. Deterministic. Errors: Cancelled, and then the clip is as it was.
Result<LimbClearanceReport> clearLimbs(const Character& character, std::span<const JointId> limbs,
                                       const LimbClearanceDesc& desc, Clip& clip,
                                       Diagnostics& notes, const Progress& progress = {});

}  // namespace derm
