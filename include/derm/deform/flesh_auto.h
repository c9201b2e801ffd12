#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "derm/deform/flesh.h"

namespace derm {

/// What part of a body an element is proposed for.
enum class FleshRegion { Limb, Belly, Cheeks, Breast, Buttock };

/// "limb", "belly", "cheeks", "breast", "buttock".
std::string_view nameOf(FleshRegion region);

struct FleshProposal {
  FleshDesc desc;  ///< valid; named after its joint or region, all names different
  FleshRegion region = FleshRegion::Limb;
  double length_m = 0;     ///< [m] of the virtual bone
  double thickness_m = 0;  ///< [m] mean depth of the flesh that moves
};

/// Proposes flesh for a character by its shape; names only help. Any skeleton will do.
///
/// The bones that carry skin are a tree; a branch counts where its skin reaches far (0.1 of the
/// character's size, and beyond the skin of the bone it hangs on). Where three or more such
/// branches meet is a fork: pelvis, chest.
///  - **Belly**: the chain from the first fork to the next, from the first joint after it.
///  - **Limbs**: along every branch that does not lead to a fork, the bones whose flesh is thick:
///    against their length (0.08 to 1), the branch's thickest (0.6) and the character's (0.35).
///    Hands and feet (by name) and the last bone of a branch are left out; straight rows of bones
///    that differ by a number alone (upperleg01, upperleg02) are one.
///  - **Cheeks**: the end of a branch of pelvis or chest that has no twin on the other side, where
///    flesh is thick for its length: a head, not a tail. Of several what is called so.
///  - **Breasts and buttocks**, on a trunk that stands: pairs of bulges. Front is where the feet
///    point. Breasts stand out from the breastbone between them, buttocks from the straight line
///    over the small of the back and the thigh.
/// Frequencies follow the size: flesh of depth t would hang by a certain share b of it, so f =
/// sqrt(g / (b t)) / 2 pi; a mouse shivers, an elephant sways.
/// Elements are in the order of their joints. O(vertices * depth of the skeleton). Fails without
/// skin weights; finds nothing (no error) on characters without flesh.
Result<std::vector<FleshProposal>> proposeFlesh(const Character& character, Diagnostics& notes);

}  // namespace derm
