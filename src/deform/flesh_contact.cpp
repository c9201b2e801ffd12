#include "derm/deform/flesh_contact.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "derm/math/transform.h"

namespace derm {
namespace {

Error badShape(std::size_t index, std::string message) {
  return Error{ErrorCode::BadArgument, std::move(message), {.element = "contact", .index = index}};
}

Affine3d inverseBind(JointId joint, std::span<const Affine3d> bind_model) {
  bool ok = true;
  return joint.valid() ? inverseOrIdentity(bind_model[joint.index()], ok)
                       : Affine3d(Affine3d::Identity());
}

Affine3d carried(JointId joint, std::span<const Affine3d> model, const Affine3d& inverse_bind) {
  return joint.valid() ? Affine3d(model[joint.index()] * inverse_bind)
                       : Affine3d(Affine3d::Identity());
}

}  // namespace

Result<void> validate(std::span<const ContactShape> shapes, std::size_t joint_count) {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const ContactShape& s = shapes[i];
    const bool rounded = s.kind != ContactShape::Kind::Plane;
    if (rounded && !(s.radius_m > 0 && std::isfinite(s.radius_m)))
      return badShape(i, "a radius must be above 0 metres");
    if (!s.from.allFinite() || !s.to.allFinite() || !s.normal.allFinite())
      return badShape(i, "places and directions must be finite");
    if (!rounded && !(s.normal.norm() > 0)) return badShape(i, "a plane's normal has no length");
    for (const JointId joint : {s.joint, s.to_joint})
      if (joint.valid() && joint.index() >= joint_count)
        return badShape(i, "there is no joint " + std::to_string(joint.index()));
  }
  return {};
}

ContactBinding::ContactBinding(std::span<const ContactShape> shapes,
                               std::span<const Affine3d> bind_model) {
  for (const ContactShape& s : shapes) {
    Bound bound{.shape = s, .from_bind = inverseBind(s.joint, bind_model)};
    if (!s.to_joint.valid()) bound.shape.to_joint = s.joint;
    bound.to_bind = inverseBind(bound.shape.to_joint, bind_model);
    shapes_.push_back(bound);
  }
}

void ContactBinding::pose(std::span<const Affine3d> model,
                          std::span<PosedContact> out) const noexcept {
  DERM_REQUIRE(out.size() == shapes_.size());
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const ContactShape& s = shapes_[i].shape;
    const Affine3d at = carried(s.joint, model, shapes_[i].from_bind);
    const Affine3d at_other = carried(s.to_joint, model, shapes_[i].to_bind);
    const Vec3d from = at * s.from;
    // Planes turn like areas, so that a scaled joint does not tilt them.
    const double volume = at.linear().determinant();
    const Vec3d normal = Mat3d(at.linear()).inverse().transpose() * s.normal;
    const double scale = std::cbrt(std::abs(volume));
    PosedContact& to = out[i];
    to.kind = s.kind;
    to.from = from.cast<float>();
    to.along = (s.kind == ContactShape::Kind::Capsule ? Vec3d(at_other * s.to - from)
                                                      : Vec3d(Vec3d::Zero()))
                   .cast<float>();
    to.normal = normal.normalized().cast<float>();
    to.radius = static_cast<float>(s.radius_m * scale);
    const bool plane = s.kind == ContactShape::Kind::Plane;
    if (to.from.allFinite() && to.along.allFinite() && std::isfinite(to.radius) &&
        (!plane || to.normal.allFinite()))
      continue;
    to = {.kind = ContactShape::Kind::Sphere, .radius = -1e30f};  // out of everything's way
  }
}

ContactDistance distanceTo(const PosedContact& shape, const Vec3f& point) noexcept {
  const Vec3f offset = point - shape.from;
  if (shape.kind == ContactShape::Kind::Plane) return {offset.dot(shape.normal), shape.normal};
  const float square = shape.along.squaredNorm();
  const float share = square > 0 ? std::clamp(offset.dot(shape.along) / square, 0.0f, 1.0f) : 0.0f;
  const Vec3f away = offset - share * shape.along;
  const float length = away.norm();
  return {length - shape.radius, length > 0 ? Vec3f(away / length) : Vec3f(Vec3f::UnitY())};
}

bool isNear(const PosedContact& shape, const Vec3f& point, float margin_m) noexcept {
  const Vec3f offset = point - shape.from;
  if (shape.kind == ContactShape::Kind::Plane) return offset.dot(shape.normal) < margin_m;
  const float square = shape.along.squaredNorm();
  const float share = square > 0 ? std::clamp(offset.dot(shape.along) / square, 0.0f, 1.0f) : 0.0f;
  const float reach = shape.radius + margin_m;
  return reach > 0 && (offset - share * shape.along).squaredNorm() < reach * reach;
}

float contactPush(float distance, float margin_m) noexcept {
  if (distance >= margin_m) return 0;
  if (distance <= -margin_m) return -distance;
  const float depth = margin_m - distance;
  return depth * depth / (4 * margin_m);
}

}  // namespace derm
