#include "cast/rig.h"

#include <numbers>

#include "derm/base/assert.h"

namespace derm::detail::cast {

JointId Rig::add(std::string name, std::string_view parent, const Vec3d& position) {
  Joint joint;
  joint.name = std::move(name);
  Vec3d origin = Vec3d::Zero();
  if (!parent.empty()) {
    joint.parent = (*this)[parent];
    origin = positions_[joint.parent.index()];
  }
  joint.rest.translation = Vec3d(position - origin).cast<float>();
  // Positions are what the stored floats add up to, so that binds match the rest pose exactly.
  positions_.push_back(origin + joint.rest.translation.cast<double>());
  skeleton_.joints.push_back(std::move(joint));
  return JointId(skeleton_.size() - 1);
}

JointId Rig::operator[](std::string_view name) const {
  const JointId joint = skeleton_.find(name);
  DERM_REQUIRE(joint.valid());
  return joint;
}

std::vector<SkinSlot> Rig::slots() const {
  std::vector<SkinSlot> slots(skeleton_.size());
  for (std::size_t j = 0; j < slots.size(); ++j) {
    slots[j].joint = JointId(j);
    slots[j].inverse_bind.translation() = Vec3d(-positions_[j]).cast<float>();
  }
  return slots;
}

Track& ClipSketch::track(Channel channel, JointId joint) {
  for (Track& t : clip_.tracks)
    if (t.channel == channel && t.joint == joint) return t;
  Track& made = clip_.tracks.emplace_back();
  made.channel = channel;
  made.joint = joint;
  return made;
}

void ClipSketch::rotation(JointId joint, double time_s, const Quatd& rotation) {
  Track& t = track(Channel::Rotation, joint);
  Quatf q = rotation.cast<float>();
  if (const std::size_t n = t.values.size(); n >= 4) {
    const Quatf last(t.values[n - 1], t.values[n - 4], t.values[n - 3], t.values[n - 2]);
    if (last.dot(q) < 0) q.coeffs() = -q.coeffs();
  }
  t.times_s.push_back(static_cast<float>(time_s));
  t.values.insert(t.values.end(), {q.x(), q.y(), q.z(), q.w()});
}

void ClipSketch::translation(JointId joint, double time_s, const Vec3d& translation) {
  Track& t = track(Channel::Translation, joint);
  const Vec3f v = translation.cast<float>();
  t.times_s.push_back(static_cast<float>(time_s));
  t.values.insert(t.values.end(), {v.x(), v.y(), v.z()});
}

Clip ClipSketch::finish() && { return std::move(clip_); }

namespace {
Quatd about(const Vec3d& axis, double degrees) {
  const double half = degrees * std::numbers::pi / 360.0;
  const Vec3d v = std::sin(half) * axis;
  return Quatd(std::cos(half), v.x(), v.y(), v.z());
}
}  // namespace

Quatd aboutX(double degrees) { return about(Vec3d::UnitX(), degrees); }
Quatd aboutY(double degrees) { return about(Vec3d::UnitY(), degrees); }
Quatd aboutZ(double degrees) { return about(Vec3d::UnitZ(), degrees); }

}  // namespace derm::detail::cast
