#pragma once

#include <array>
#include <span>
#include <vector>

#include "derm/character/character.h"

#include "quality/skin_measures.h"

namespace derm::quality {

/// Volumes of a body's parts, cut at planes through its joints: a way to measure that knows nothing
/// of any method's own regions. The plane of a joint halves the angle between the bones that meet
/// there. What lies beyond it, connected and moved by the joint's own bones, is the limb; a part is
/// a limb less the limbs that are cut off further down, as far as they lie beyond its plane, too: a
/// calf that swings back through the plane of a hip changes nothing between hip and knee. Limbs
/// that no plane cuts off, at rest or in a pose, are left out.
class PartVolumes {
 public:
  PartVolumes(const Character& character, const SkinMeasures& rest);

  std::size_t size() const { return joints_.size(); }
  struct Change {
    double share = 0;  ///< of the part's volume at rest, signed
    JointId joint;     ///< of the part; none where there are no parts
  };
  /// The largest change of a part against the rest. `model` has the joint-to-model matrices of the
  /// pose that `skin` is in.
  Change worst(const SkinMeasures& skin, std::span<const Affine3d> model) const;

 private:
  struct Joint {
    JointId joint, above;          ///< the next joint above that lies somewhere else
    Vec3d beyond = Vec3d::Zero();  ///< in the joint's space: where its bone goes
    int cut_above = -1;            ///< in joints_
    std::vector<float> follows;    ///< per point: share of the weights of joint and all below
    double rest_m3 = 0;
  };
  /// Of the parts; not a number where no plane cuts a limb off in this pose.
  std::vector<double> volumes(const SkinMeasures& skin, std::span<const Affine3d> model) const;
  struct Limb {
    double all_m3 = 0;
    double beside_m3 = 0;  ///< where its skin ends before the plane does
  };
  struct Plane {
    Vec3d at = Vec3d::Zero(), normal = Vec3d::Zero();  ///< normal: to what is cut off
  };
  static Plane planeOf(const Joint& joint, std::span<const Affine3d> model);
  /// `within`: what of the limb lies beyond this plane, too; null = all of it.
  Limb limbOf(const Joint& joint, const SkinMeasures& skin, const Plane& plane,
              const Plane* within) const;

  std::vector<Joint> joints_;
  std::vector<std::array<std::int32_t, 3>> across_;  ///< per triangle and edge: the other triangle
};

}  // namespace derm::quality
