#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/anim/clip.h"
#include "derm/anim/skeleton.h"
#include "derm/anim/skin.h"

namespace derm::detail::cast {

/// A skeleton described by where its joints stand. All joints rest unrotated: their axes are
/// parallel to the model's, so "about x" means the same thing everywhere in the rig and in a clip.
class Rig {
 public:
  /// Adds a joint; the parent must be there already ("" for the root). Position in model space [m].
  JointId add(std::string name, std::string_view parent, const Vec3d& position);

  JointId operator[](std::string_view name) const;  ///< must exist
  const Vec3d& position(JointId joint) const { return positions_[joint.index()]; }
  const Vec3d& position(std::string_view name) const { return position((*this)[name]); }
  const Skeleton& skeleton() const { return skeleton_; }
  std::vector<SkinSlot> slots() const;  ///< one per joint, in order, bind = rest

 private:
  Skeleton skeleton_;
  std::vector<Vec3d> positions_;
};

/// A clip under construction: keys are given per joint in order of time, rotations are kept in one
/// hemisphere so that neighbouring keys never cancel.
class ClipSketch {
 public:
  explicit ClipSketch(std::string name) { clip_.name = std::move(name); }

  void rotation(JointId joint, double time_s, const Quatd& rotation);
  void translation(JointId joint, double time_s, const Vec3d& translation);
  Clip finish() &&;

 private:
  Track& track(Channel channel, JointId joint);
  Clip clip_;
};

/// Rotation about one of the model's axes. [degrees]: clips are written the way animators think.
Quatd aboutX(double degrees);
Quatd aboutY(double degrees);
Quatd aboutZ(double degrees);

}  // namespace derm::detail::cast
