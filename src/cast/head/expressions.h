#pragma once

#include <string>
#include <vector>

#include "derm/anim/clip.h"

#include "cast/head/face_pose.h"

namespace derm::detail::cast {

/// A morph target of a head: what the face does at weight 1.
struct Expression {
  std::string name;
  FacePose pose;
};

/// Six expressions, then blinks and the open jaw. The first six are emotions (Ekman's), the others
/// have ARKit's names.
std::vector<Expression> expressions(const HeadDesign& design);

/// Plays them one after another, from rest to rest. Requires as many morph targets, from 0 on.
Clip expressionsClip(const std::vector<Expression>& all);

}  // namespace derm::detail::cast
