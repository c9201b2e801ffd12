#include "derm/deform/twist_spread.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <Eigen/Geometry>

#include "derm/deform/rotation_centres.h"
#include "derm/math/polar.h"

#include "anim/joint_names.h"

namespace derm {
namespace {

/// A hand has at least this many fingers, of at least this many joints each.
constexpr std::size_t kMinFingers = 3;
constexpr std::size_t kFingerJoints = 2;
/// No finger is longer than this times the bone above the hand.
constexpr double kLongestFinger = 1.2;
/// Joints this close to the axis, as a share of the bone's length, twist about it.
constexpr double kNearAxis = 0.1;

bool isCalled(const Joint& joint, std::string_view wanted) {
  const std::string& joint_name = joint.role.empty() ? joint.name : joint.role;
  const auto means = [&](std::string_view name) {
    const std::string text = detail::meaningOf(name).canonical;
    return text == wanted || (text.size() == wanted.size() + 2 && text.ends_with(wanted) &&
                              (text.starts_with("l.") || text.starts_with("r.")));
  };
  if (means(joint_name)) return true;
  // "lowerarm01.L": the first of several in a row.
  std::string plain(joint_name);
  std::erase_if(plain, [](char c) { return c >= '0' && c <= '9'; });
  return means(plain);
}

/// Looks for limbs that end in a hand.
class Finder {
 public:
  Finder(const Skeleton& skeleton, const Skin& skin)
      : skeleton_(skeleton), slots_(skeleton.size(), kNone), positions_(skeleton.size()) {
    const std::vector<Transform> bind_local = bindTransforms(skeleton, skin);
    std::vector<Affine3d> bind(skeleton.size());
    localToModel(skeleton, bind_local, bind);
    for (std::size_t j = 0; j < skeleton.size(); ++j) positions_[j] = bind[j].translation();
    for (std::size_t s = skin.slots.size(); s-- > 0;)
      slots_[skin.slots[s].joint.index()] = static_cast<std::uint32_t>(s);
    children_.resize(skeleton.size());
    for (std::size_t j = 0; j < skeleton.size(); ++j)
      if (const JointId above = skinned(skeleton.joints[j].parent); used(j) && above.valid())
        children_[above.index()].push_back(j);
  }

  std::vector<TwistBone> forearms() const {
    std::vector<TwistBone> out;
    for (std::size_t j = 0; j < skeleton_.size(); ++j)
      if (used(j) && isCalled(skeleton_.joints[j], "hand") && !underHand(j))
        add(elbowOf(j), j, out);
    if (!out.empty()) return out;
    for (std::size_t j = 0; j < skeleton_.size(); ++j) {
      const JointId above = skinned(skeleton_.joints[j].parent);
      if (used(j) && above.valid() && isHand(j, above)) add(above, j, out);
    }
    return out;
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  bool used(std::size_t joint) const { return slots_[joint] != kNone; }
  /// The joint or the nearest above it that has a slot.
  JointId skinned(JointId joint) const {
    while (joint.valid() && !used(joint.index())) joint = skeleton_[joint].parent;
    return joint;
  }
  bool underHand(std::size_t joint) const {
    for (JointId a = skeleton_.joints[joint].parent; a.valid(); a = skeleton_[a].parent)
      if (used(a.index()) && isCalled(skeleton_[a], "hand")) return true;
    return false;
  }
  /// The topmost of the joints above that are called forearm; the next above where none is.
  JointId elbowOf(std::size_t hand) const {
    const JointId next = skinned(skeleton_.joints[hand].parent);
    JointId elbow;
    for (JointId a = next; a.valid(); a = skinned(skeleton_[a].parent)) {
      if (isCalled(skeleton_[a], "forearm"))
        elbow = a;
      else if (elbow.valid() || isCalled(skeleton_[a], "upperarm"))
        break;
    }
    return elbow.valid() ? elbow : next;
  }
  /// How many joints a branch without forks has, and how far it reaches; 0 where it forks.
  std::size_t fingerJoints(std::size_t joint, double& reach_m) const {
    std::size_t count = 1;
    for (; children_[joint].size() == 1; ++count) {
      reach_m += (positions_[children_[joint][0]] - positions_[joint]).norm();
      joint = children_[joint][0];
    }
    return children_[joint].empty() ? count : 0;
  }
  bool isHand(std::size_t joint, JointId above) const {
    if (children_[joint].size() < kMinFingers || !skeleton_[above].parent.valid()) return false;
    const double bone_m = (positions_[joint] - positions_[above.index()]).norm();
    return std::all_of(children_[joint].begin(), children_[joint].end(), [&](std::size_t finger) {
      double reach_m = (positions_[finger] - positions_[joint]).norm();
      return fingerJoints(finger, reach_m) >= kFingerJoints && reach_m <= kLongestFinger * bone_m;
    });
  }

  void add(JointId start, std::size_t end, std::vector<TwistBone>& out) const {
    if (!start.valid()) return;
    TwistBone bone{.start = start, .end = JointId(end), .origin = positions_[start.index()]};
    const Vec3d along = positions_[end] - bone.origin;
    bone.length_m = along.norm();
    // Where float matrices cannot tell the ends apart there is no axis.
    if (!(bone.length_m > 1e-5 * positions_[end].norm()) || !along.allFinite()) return;
    bone.axis = along / bone.length_m;
    bone.end_slot = slots_[end];
    out.push_back(bone);
  }

  const Skeleton& skeleton_;
  std::vector<std::uint32_t> slots_;  ///< per joint its first slot
  std::vector<Vec3d> positions_;      ///< [m] per joint, at bind
  std::vector<std::vector<std::size_t>> children_;
};

bool onAxis(const TwistBone& bone, const Skeleton& skeleton, JointId joint, const Vec3d& position) {
  if (joint == bone.end) return true;
  if (isBelow(skeleton, joint, bone.end)) return false;
  const Vec3d from = position - bone.origin;
  const double along = from.dot(bone.axis) / bone.length_m;
  const double off = (from - along * bone.length_m * bone.axis).norm() / bone.length_m;
  return off < kNearAxis && along > -kNearAxis && along < 1 + kNearAxis;
}

void addMembers(const Skeleton& skeleton, const Skin& skin, TwistBone& bone) {
  for (const SlotLink& link : slotLinks(skeleton, skin)) {
    const SkinSlot& slot = skin.slots[link.slot];
    if (slot.joint == bone.start || !isBelow(skeleton, slot.joint, bone.start)) continue;
    bool invertible = false;
    const Vec3d position =
        inverseOrIdentity(slot.inverse_bind.cast<double>(), invertible).translation();
    bone.members.push_back({.slot = link.slot,
                            .parent = link.parent,
                            .first = skin.slots[link.parent].joint == bone.start,
                            .on_axis = onAxis(bone, skeleton, slot.joint, position)});
  }
}

template <class Matrix>
Quatd rotationOf(const Matrix& m) {
  if (!m.matrix().allFinite()) return Quatd::Identity();
  return Quatd(polarDecomposition(m.linear().template cast<double>()).rotation).normalized();
}

/// Angle about `axis` of the turn from one slot to the next below it, in [-pi, pi].
double twistBetween(const Quatd& above, const Quatd& below, const Vec3d& axis) {
  Quatd q = above.conjugate() * below;
  if (q.w() < 0) q.coeffs() = -q.coeffs();
  const double along = Vec3d(q.vec()).dot(axis);
  return along == 0 && q.w() == 0 ? 0 : 2 * std::atan2(along, q.w());
}

template <class Matrix>
double take(const TwistBone& bone, std::span<Matrix> palette, std::span<double> removed) noexcept {
  // Angles first: each needs the matrices as they were.
  for (const TwistBone::Member& m : bone.members) {
    removed[m.slot] = m.first ? 0 : removed[m.parent];
    if (m.on_axis)
      removed[m.slot] +=
          twistBetween(rotationOf(palette[m.parent]), rotationOf(palette[m.slot]), bone.axis);
  }
  using Scalar = typename Matrix::Scalar;
  Affine3d back = Affine3d::Identity();
  double angle = 0;  // that `back` turns by
  for (const TwistBone::Member& m : bone.members) {
    if (removed[m.slot] == 0) continue;
    if (angle != removed[m.slot]) {
      angle = removed[m.slot];
      back.linear() = Eigen::AngleAxisd(-angle, Eigen::Vector3d(bone.axis)).matrix();
      back.translation() = bone.origin - back.linear() * bone.origin;
    }
    palette[m.slot] =
        Matrix((palette[m.slot].template cast<double>() * back).template cast<Scalar>());
  }
  return removed[bone.end_slot];
}

}  // namespace

std::vector<TwistBone> findTwistBones(const Skeleton& skeleton, const Skin& skin, TwistRule rule) {
  if (rule == TwistRule::None) return {};
  std::vector<TwistBone> out = Finder(skeleton, skin).forearms();
  for (TwistBone& bone : out) addMembers(skeleton, skin, bone);
  return out;
}

TwistShares twistShares(std::span<const TwistBone> bones, const Skeleton& skeleton,
                        const Skin& skin, std::span<const Vec3f> positions) {
  TwistShares out;
  out.bone.assign(positions.size(), TwistShares::kNone);
  out.share.assign(positions.size(), 0.0f);
  for (std::uint32_t b = 0; b < bones.size(); ++b) {
    const TwistBone& bone = bones[b];
    std::vector<char> below_start(skin.slots.size()), below_end(skin.slots.size());
    for (std::size_t s = 0; s < skin.slots.size(); ++s) {
      below_start[s] = isBelow(skeleton, skin.slots[s].joint, bone.start);
      below_end[s] = isBelow(skeleton, skin.slots[s].joint, bone.end);
    }
    for (std::size_t v = 0; v < positions.size(); ++v) {
      double start = 0, end = 0;
      for (const Influence& i : skin[v]) {
        if (below_start[i.slot]) start += double{i.weight};
        if (below_end[i.slot]) end += double{i.weight};
      }
      const double along =
          Vec3d(positions[v].cast<double>() - bone.origin).dot(bone.axis) / bone.length_m;
      const double share = std::min(1.0, start) * std::min(1.0, std::max({along, 0.0, end}));
      if (!(share > double{out.share[v]})) continue;
      out.bone[v] = b;
      out.share[v] = static_cast<float>(share);
    }
  }
  return out;
}

double takeTwist(const TwistBone& bone, std::span<Affine3f> palette,
                 std::span<double> removed) noexcept {
  return take(bone, palette, removed);
}
double takeTwist(const TwistBone& bone, std::span<Affine3d> palette,
                 std::span<double> removed) noexcept {
  return take(bone, palette, removed);
}

}  // namespace derm
