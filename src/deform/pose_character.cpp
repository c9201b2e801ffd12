#include "derm/deform/pose_character.h"

#include "derm/deform/morphs.h"

namespace derm {

Result<TriMesh> poseCharacter(const Character& c, const Pose& pose, SkinningMethod method) {
  if (pose.local.size() != c.skeleton.size() || pose.morph_weights.size() != c.morphs.size())
    return Error{ErrorCode::BadArgument,
                 "a pose of " + std::to_string(pose.local.size()) + " joints and " +
                     std::to_string(pose.morph_weights.size()) + " morphs for a character of " +
                     std::to_string(c.skeleton.size()) + " and " + std::to_string(c.morphs.size()),
                 {.file = c.name}};
  DERM_CHECK(validate(c));
  TriMesh morphed = c.mesh;
  addMorphs(c.morphs, pose.morph_weights, outputOf(morphed));
  if (!c.hasSkin()) return morphed;
  Diagnostics notes;  // what bind could note has been noted when the file was read
  DERM_TRY(const SkinningBinding binding,
           SkinningBinding::bind(c.mesh, c.skeleton, c.skin, {.method = method}, notes));
  std::vector<Affine3d> model(c.skeleton.size());
  localToModel(c.skeleton, pose.local, model);
  std::vector<Affine3f> palette(c.skin.slots.size());
  skinningMatrices(c.skin, model, palette);
  TriMesh posed = morphed;
  SkinningScratch scratch = binding.makeScratch();
  binding.evaluate(palette, surfaceOf(morphed), scratch, outputOf(posed));
  return posed;
}

}  // namespace derm
