#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/base/result.h"
#include "derm/math/vec.h"

namespace derm {

/// Something that flesh must not enter. Positions are given beside the mesh in its bind pose, in
/// model space, and follow their joints from there.
struct ContactShape {
  enum class Kind {
    Sphere,   ///< about `from`
    Capsule,  ///< about the segment from `from` to `to`
    Plane,    ///< all that lies behind the plane through `from`
  };
  Kind kind = Kind::Sphere;
  JointId joint;                  ///< that `from` (and `to`) follows; invalid = the world
  JointId to_joint;               ///< of a capsule: that `to` follows; invalid = `joint`
  Vec3d from = Vec3d::Zero();     ///< [m]
  Vec3d to = Vec3d::Zero();       ///< [m] of a capsule
  Vec3d normal = Vec3d::UnitY();  ///< of a plane, pointing at the free side; any length but 0
  double radius_m = 0.1;          ///< [m] > 0 of a sphere or capsule; scales with its joint

  bool operator==(const ContactShape&) const = default;
};

/// Numbers finite, radii > 0, normals with a length, joints among `joint_count`. The error's
/// element is "contact", its index the shape's.
Result<void> validate(std::span<const ContactShape> shapes, std::size_t joint_count);

/// A shape where it is at one instant. Single precision: it is asked for every vertex.
struct PosedContact {
  ContactShape::Kind kind = ContactShape::Kind::Sphere;
  Vec3f from = Vec3f::Zero();
  Vec3f along = Vec3f::Zero();    ///< [m] from `from` to the other end of a capsule
  Vec3f normal = Vec3f::UnitY();  ///< unit
  float radius = 0;               ///< [m]
};

/// Shapes made ready: immutable.
class ContactBinding {
 public:
  ContactBinding() = default;
  /// Requires valid shapes and one bind matrix per joint, all invertible where a shape uses them.
  ContactBinding(std::span<const ContactShape> shapes, std::span<const Affine3d> bind_model);

  bool empty() const { return shapes_.empty(); }
  std::size_t size() const { return shapes_.size(); }
  /// Where the shapes are, `out` of size(). A joint without finite position leaves a shape of no
  /// size that touches nothing. Allocation-free.
  void pose(std::span<const Affine3d> model, std::span<PosedContact> out) const noexcept;

 private:
  struct Bound {
    ContactShape shape;
    Affine3d from_bind = Affine3d::Identity();  ///< inverse bind of the joint
    Affine3d to_bind = Affine3d::Identity();
  };
  std::vector<Bound> shapes_;
};

/// Signed distance of a point from the shape [m], negative inside, and the direction away from it
/// (unit; of a point on the very middle, any).
struct ContactDistance {
  float distance = 0;
  Vec3f away = Vec3f::UnitY();
};
ContactDistance distanceTo(const PosedContact& shape, const Vec3f& point) noexcept;

/// Whether the signed distance is below the margin, without the cost of measuring it.
bool isNear(const PosedContact& shape, const Vec3f& point, float margin_m) noexcept;

/// How far a point at a signed distance is pushed out [m]: enough to be outside, and a little
/// before it touches, so that the push sets in without a jerk: (margin - distance)^2 / (4 margin)
/// within the margin, -distance deeper in. Continuous with its first derivative for margin_m > 0.
float contactPush(float distance, float margin_m) noexcept;

}  // namespace derm
