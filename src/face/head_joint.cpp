#include "face/head_joint.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

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
  return faceCarrier(character.skeleton, share);
}

JointId faceCarrier(const Skeleton& skeleton, std::span<const double> share) {
  constexpr double kOwn = 0.5, kNearlyAll = 0.8;
  const double total = std::accumulate(share.begin(), share.end(), 0.0);
  JointId joint(
      static_cast<std::size_t>(std::max_element(share.begin(), share.end()) - share.begin()));
  if (share[joint.index()] >= kOwn * total) return joint;
  const auto carried = [&](JointId head) {
    double sum = 0;
    for (std::size_t j = 0; j < share.size(); ++j)
      if (isBelow(skeleton, JointId(j), head)) sum += share[j];
    return sum;
  };
  while (carried(joint) < kNearlyAll * total && skeleton[joint].parent.valid())
    joint = skeleton[joint].parent;
  return joint;
}

}  // namespace derm::detail
