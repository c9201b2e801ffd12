#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/character/character.h"
#include "derm/deform/flesh_auto.h"

namespace derm::detail {

/// The trunk of a character that stands, in its bind pose.
struct Trunk {
  JointId pelvis;
  JointId chest;                  ///< where the arms branch off
  double hips_m = 0;              ///< [m] height of the legs' first joints
  double shoulders_m = 0;         ///< [m] height of the arms' first joints
  std::vector<bool> trunk_joint;  ///< per joint: pelvis, chest, what lies between and hangs on them
  std::vector<bool> leg_joint;    ///< per joint: those of the legs
};

/// Where skin stands out from a trunk in pairs: breasts at the front, buttocks at the back. Each is
/// an element of its own, named after its side, still without a spring.
/// Front is where feet point; nothing is found where that cannot be told. `is_prop` as
/// propVertices() gives it.
std::vector<FleshProposal> findBulges(const Character& character, std::span<const Affine3d> bind,
                                      const Trunk& trunk, std::span<const std::uint8_t> is_prop);

}  // namespace derm::detail
