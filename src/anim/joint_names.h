#pragma once

#include <string>
#include <string_view>

#include "derm/anim/skeleton.h"

namespace derm::detail {

/// What part of a body a joint is, as far as its name tells.
enum class BodyPart {
  Unknown,
  Trunk,  ///< hips, spine, neck, head, shoulders
  Limb,   ///< upper and lower arms and legs
  Tip,    ///< hands, feet, fingers, toes
};

/// A joint name reduced to what it means: side and plain words, "l.thigh" for "LeftUpLeg".
struct JointMeaning {
  std::string plain;      ///< without case, separators, prefixes; side first: "l.upleg"
  std::string canonical;  ///< the same with synonyms replaced: "l.thigh"
  /// The canonical word alone, without side, numbers and fillers: "thigh" for "L_upperleg_jnt_02",
  /// "upperarm" for "Skeleton_arm_joint_L__4_".
  std::string base;
  char side = 0;  ///< 'l', 'r' or 0
  BodyPart part = BodyPart::Unknown;
};

/// Names in the ways of common rigs, Japanese ones (MikuMikuDance) among them.
JointMeaning meaningOf(std::string_view joint_name);
/// By the joint's role, or else its name.
JointMeaning meaningOf(const Joint& joint);

}  // namespace derm::detail
