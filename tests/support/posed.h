#pragma once

#include <memory>
#include <string>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/character/character.h"
#include "derm/deform/skinning.h"
#include "derm/deform/stack.h"

#include "support/shelf.h"

namespace derm::testing_support {

inline Pose poseAt(const Character& character, const Clip& clip, double time_s) {
  Pose pose = character.restPose();
  sampleClip(clip, static_cast<float>(time_s), pose);
  return pose;
}

/// The character skinned by hand, without a stack and without morphs.
inline TriMesh skinned(const Character& character, const Pose& pose, SkinningMethod method) {
  std::vector<Affine3d> model(character.skeleton.size());
  std::vector<Affine3f> palette(character.skin.slots.size());
  localToModel(character.skeleton, pose.local, model);
  skinningMatrices(character.skin, model, palette);
  Diagnostics notes;
  const SkinningBinding binding =
      SkinningBinding::bind(surfaceOf(character.mesh), character.skin, {.method = method}, notes)
          .value();
  SkinningScratch scratch = binding.makeScratch();
  TriMesh out = character.mesh;
  binding.evaluate(palette, scratch, outputOf(out));
  return out;
}

/// A tube of about this many vertices with the shelf's three-joint rig.
inline std::shared_ptr<const Character> riggedTube(int rings = 24, int sectors = 16) {
  return std::make_shared<const Character>(
      shelf::rigged({"tube", shelf::tube(rings, sectors, 0.5f, 4.0f), false}));
}

inline std::shared_ptr<const Stack> stackOf(std::shared_ptr<const Character> character,
                                            const std::vector<LayerFactory>& layers) {
  Diagnostics notes;
  return Stack::bind(std::move(character), layers, notes).value();
}

}  // namespace derm::testing_support
