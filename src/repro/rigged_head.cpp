#include "repro/rigged_head.h"

#include <memory>
#include <optional>

namespace derm::detail::repro {

Result<RiggedHead> riggedHead(std::string_view name, const PictureEncoder& encode,
                              Diagnostics& notes) {
  RiggedHead out;
  DERM_TRY(out.character, makeCastMember(name, encode));
  DERM_TRY(out.points, facePoints(out.character.points, out.character.mesh));
  if (const std::optional<FaceRig> rig = findFaceRig(out.character)) {
    out.rig = *rig;
    return out;
  }
  DERM_TRY(out.rig, addFaceRig(out.character, {}, notes));
  return out;
}

Result<Rgba8Image> headPicture(const Character& head, const Shot& shot, Diagnostics& notes) {
  DERM_TRY(Scene scene,
           sceneOf("character = \"head.glb\"\n", notes, std::make_shared<const Character>(head)));
  return pictureOf(scene, shot, notes);
}

}  // namespace derm::detail::repro
