#pragma once

#include <memory>
#include <span>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/character/character.h"
#include "derm/deform/layer.h"
#include "derm/deform/skin_frame.h"
#include "derm/render/draw_list.h"
#include "derm/render/overlays.h"

namespace derm {

/// A character's materials with their textures decoded, on the surface that a stack makes of it:
/// made once, used for every picture. Textures that cannot be decoded are noted and left out. A
/// material that the file says nothing about is shown as clay.
class CharacterLook {
 public:
  /// `bound` is what the stack gives, and must outlive the look.
  CharacterLook(const Character& character, const BoundSurface& bound, Diagnostics& notes);

  /// The surface of an instant, which must outlive the drawing.
  DrawSurface surfaceOf(const SkinFrame& frame) const;

 private:
  const BoundSurface* bound_;
  std::vector<DrawPart> parts_;
};

/// The bones of a character in a pose, for addSkeleton(): its skin's joints, each hanging on the
/// nearest one above it, without those above the first that moves skin. Requires one matrix per
/// joint.
std::vector<SkeletonJoint> skeletonJoints(const Character& character,
                                          std::span<const Affine3d> model);

/// The weight of one joint at each vertex, over all slots that refer to it.
std::vector<float> weightsOfJoint(const Skin& skin, JointId joint);

}  // namespace derm
