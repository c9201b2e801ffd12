#include "face/head_joint.h"

#include <algorithm>
#include <optional>

#include "derm/face/face_rig.h"

namespace derm::detail {

JointId headJoint(const Character& character) {
  if (const std::optional<FaceRig> rig = findFaceRig(character)) return rig->head;
  if (character.skin.empty() || character.skeleton.size() == 0) return {};
  std::vector<double> share(character.skeleton.size(), 0);
  for (const LabelledPoint& p : character.points)
    for (const std::uint32_t v : character.mesh.triangles[p.point.triangle])
      for (const Influence& i : character.skin[v])
        share[character.skin.slots[i.slot].joint.index()] += double(i.weight);
  return JointId(
      static_cast<std::size_t>(std::max_element(share.begin(), share.end()) - share.begin()));
}

}  // namespace derm::detail
