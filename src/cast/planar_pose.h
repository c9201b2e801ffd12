#pragma once

#include <string_view>
#include <vector>

#include "cast/rig.h"

namespace derm::detail::cast {

/// A pose in which joints only pitch (turn about x) and the root only moves: what most of a running
/// or walking body does, and simple enough to place feet by formula. Angles in degrees; positive
/// pitch takes +y towards +z (a nod).
class PlanarPose {
 public:
  explicit PlanarPose(const Rig& rig);

  double& pitch(std::string_view joint) { return pitch_[rig_->operator[](joint).index()]; }
  Vec3d move = Vec3d::Zero();  ///< of the root [m]

  /// Where a joint is, and how far it and all above it have pitched.
  Vec3d where(std::string_view joint) const { return where((*rig_)[joint]); }
  double worldPitch(std::string_view joint) const { return worldPitch((*rig_)[joint]); }
  /// Gives a joint the local pitch that makes its world pitch this.
  void pitchInWorld(std::string_view joint, double degrees);
  /// Turns `upper` and `lower` (its child) so that `end` (child of lower) comes to the target, in
  /// the plane x = const, bending the way the rest pose bends. What is too far or too near is
  /// reached for as well as the bones allow. `ease` [0, 0.3] is the share of the limb's length over
  /// which it slows down before it is quite straight or quite folded: without it a knee snaps
  /// there.
  void reach(std::string_view upper, std::string_view lower, std::string_view end,
             const Vec3d& target, double ease = 0);

  /// Adds a key for every joint that was ever pitched here, and for the root.
  void addKeys(double time_s, ClipSketch& clip) const;

 private:
  Vec3d where(JointId joint) const;
  double worldPitch(JointId joint) const;
  const Rig* rig_;
  std::vector<double> pitch_;
};

/// v turned about x. [degrees]
Vec3d pitched(const Vec3d& v, double degrees);

}  // namespace derm::detail::cast
