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

/// A character's materials with their textures decoded, ready to be drawn: made once, used for
/// every picture. Textures that cannot be decoded are noted and left out. A material that the file
/// says nothing about is shown as clay.
class CharacterLook {
 public:
  CharacterLook(const Character& character, Diagnostics& notes);

  /// The surface of an instant. `bound` is the one the stack gives; both and this look must outlive
  /// the drawing. Requires normals in `frame`.
  DrawSurface surfaceOf(const BoundSurface& bound, const SkinFrame& frame) const;

 private:
  std::vector<DrawPart> partsOf(const BoundSurface& bound) const;

  std::vector<DrawMaterial> materials_;  ///< one per part of the character
  std::vector<std::uint32_t> part_of_triangle_;
};

/// The bones of a character in a pose, for addSkeleton(): its skin's joints, each hanging on the
/// nearest one above it, less those above the first that moves skin. Requires one matrix per joint.
std::vector<SkeletonJoint> skeletonJoints(const Character& character,
                                          std::span<const Affine3d> model);

/// The weight of one joint at each vertex, over all slots that refer to it.
std::vector<float> weightsOfJoint(const Skin& skin, JointId joint);

}  // namespace derm
