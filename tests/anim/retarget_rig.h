#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "derm/anim/clip.h"
#include "derm/anim/pose.h"
#include "derm/anim/skeleton.h"

/// Bodies as different rigs write them, and a motion of one of them.
namespace derm::retarget_test {

struct Bone {
  const char* name;
  const char* parent;  ///< nullptr for the root
  Vec3f offset;        ///< in model space, from the parent
};

/// A skeleton whose joints have the given model-space offsets, with rest rotations that differ per
/// joint, as rigs have them.
inline Skeleton skeletonOf(std::span<const Bone> bones, float twist) {
  Skeleton s;
  std::vector<Quatd> model;
  for (std::size_t i = 0; i < bones.size(); ++i) {
    Joint joint;
    joint.name = bones[i].name;
    Quatd above = Quatd::Identity();
    if (bones[i].parent != nullptr) {
      joint.parent = s.find(bones[i].parent);
      EXPECT_TRUE(joint.parent.valid());
      above = model[joint.parent.index()];
    }
    joint.rest.translation =
        (above.conjugate() * Vec3d(bones[i].offset.cast<double>())).cast<float>();
    joint.rest.rotation = Quatf(
        Eigen::AngleAxisf(twist * float(i % 5), Vec3f(1.0f, float(i % 3), 0.5f).normalized()));
    model.push_back((above * joint.rest.rotation.cast<double>()).normalized());
    s.joints.push_back(joint);
  }
  return s;
}

/// A person standing with arms stretched out, 1.0 from hips to ground, MotionBuilder names.
inline Skeleton person() {
  const Bone bones[] = {{"Hips", nullptr, {0, 1.0f, 0}},
                        {"Spine", "Hips", {0, 0.2f, 0}},
                        {"Neck", "Spine", {0, 0.3f, 0}},
                        {"Head", "Neck", {0, 0.1f, 0}},
                        {"LeftArm", "Spine", {0.2f, 0.25f, 0}},
                        {"LeftForeArm", "LeftArm", {0.3f, 0, 0}},
                        {"LeftHand", "LeftForeArm", {0.25f, 0, 0}},
                        {"RightArm", "Spine", {-0.2f, 0.25f, 0}},
                        {"RightForeArm", "RightArm", {-0.3f, 0, 0}},
                        {"RightHand", "RightForeArm", {-0.25f, 0, 0}},
                        {"LeftUpLeg", "Hips", {0.1f, 0, 0}},
                        {"LeftLeg", "LeftUpLeg", {0, -0.5f, 0}},
                        {"LeftFoot", "LeftLeg", {0, -0.45f, 0}},
                        {"LeftToeBase", "LeftFoot", {0, -0.05f, 0.1f}},
                        {"RightUpLeg", "Hips", {-0.1f, 0, 0}},
                        {"RightLeg", "RightUpLeg", {0, -0.5f, 0}},
                        {"RightFoot", "RightLeg", {0, -0.45f, 0}},
                        {"RightToeBase", "RightFoot", {0, -0.05f, 0.1f}}};
  return skeletonOf(bones, 0.0f);
}

/// Bones cut in several, a spine numbered from the top, hips without a name for it, hip joints
/// between hips and legs: the way MakeHuman writes a body.
inline Skeleton cutBody() {
  const Bone bones[] = {{"root", nullptr, {0, 0.9f, -0.05f}},
                        {"pelvis.L", "root", {0, 0, 0.05f}},
                        {"upperleg01.L", "pelvis.L", {0.1f, 0, 0}},
                        {"upperleg02.L", "upperleg01.L", {0.01f, -0.1f, 0.02f}},
                        {"lowerleg01.L", "upperleg02.L", {0.04f, -0.3f, 0}},
                        {"lowerleg02.L", "lowerleg01.L", {0, -0.2f, 0}},
                        {"foot.L", "lowerleg02.L", {0, -0.2f, 0}},
                        {"pelvis.R", "root", {0, 0, 0.05f}},
                        {"upperleg01.R", "pelvis.R", {-0.1f, 0, 0}},
                        {"upperleg02.R", "upperleg01.R", {-0.01f, -0.1f, 0.02f}},
                        {"lowerleg01.R", "upperleg02.R", {-0.04f, -0.3f, 0}},
                        {"lowerleg02.R", "lowerleg01.R", {0, -0.2f, 0}},
                        {"foot.R", "lowerleg02.R", {0, -0.2f, 0}},
                        {"spine03", "root", {0, 0.1f, 0.05f}},
                        {"spine02", "spine03", {0, 0.1f, 0}},
                        {"spine01", "spine02", {0, 0.1f, 0}},
                        {"clavicle.L", "spine01", {0.02f, 0.2f, 0.05f}},
                        {"upperarm01.L", "clavicle.L", {0.15f, 0, 0}},
                        {"upperarm02.L", "upperarm01.L", {0.1f, -0.1f, 0}},
                        {"lowerarm01.L", "upperarm02.L", {0.1f, -0.12f, 0}},
                        {"wrist.L", "lowerarm01.L", {0.1f, -0.1f, 0.15f}},
                        {"clavicle.R", "spine01", {-0.02f, 0.2f, 0.05f}},
                        {"upperarm01.R", "clavicle.R", {-0.15f, 0, 0}},
                        {"upperarm02.R", "upperarm01.R", {-0.1f, -0.1f, 0}},
                        {"lowerarm01.R", "upperarm02.R", {-0.1f, -0.12f, 0}},
                        {"wrist.R", "lowerarm01.R", {-0.1f, -0.1f, 0.15f}},
                        {"neck01", "spine01", {0, 0.25f, 0}},
                        {"head", "neck01", {0, 0.1f, 0}}};
  return skeletonOf(bones, 0.0f);
}

/// Limbs told apart by numbers only, no word for hips, chest or head; caught in a stride.
inline Skeleton numberedBody() {
  const Bone bones[] = {{"torso_joint_1", nullptr, {0, 0.6f, 0}},
                        {"torso_joint_2", "torso_joint_1", {0, 0.3f, 0}},
                        {"neck_joint_1", "torso_joint_2", {0, 0.1f, 0}},
                        {"neck_joint_2", "neck_joint_1", {0, 0.1f, 0}},
                        {"Skeleton_arm_joint_L__4_", "torso_joint_2", {0.1f, 0.05f, 0}},
                        {"Skeleton_arm_joint_L__3_", "Skeleton_arm_joint_L__4_", {0.1f, -0.2f, 0}},
                        {"Skeleton_arm_joint_L__2_", "Skeleton_arm_joint_L__3_", {0, -0.2f, 0.1f}},
                        {"Skeleton_arm_joint_R", "torso_joint_2", {-0.1f, 0.05f, 0}},
                        {"Skeleton_arm_joint_R__2_", "Skeleton_arm_joint_R", {-0.1f, -0.2f, 0}},
                        {"Skeleton_arm_joint_R__3_", "Skeleton_arm_joint_R__2_", {0, -0.2f, 0.1f}},
                        {"leg_joint_L_1", "torso_joint_1", {0.07f, -0.05f, 0}},
                        {"leg_joint_L_2", "leg_joint_L_1", {0, -0.25f, 0.05f}},
                        {"leg_joint_L_3", "leg_joint_L_2", {0, -0.25f, -0.05f}},
                        {"leg_joint_L_5", "leg_joint_L_3", {0, -0.05f, 0.1f}},
                        {"leg_joint_R_1", "torso_joint_1", {-0.07f, -0.05f, 0}},
                        {"leg_joint_R_2", "leg_joint_R_1", {0, -0.25f, -0.05f}},
                        {"leg_joint_R_3", "leg_joint_R_2", {0, -0.25f, -0.05f}},
                        {"leg_joint_R_5", "leg_joint_R_3", {0, -0.05f, 0.1f}}};
  return skeletonOf(bones, 0.3f);
}

/// Twice as tall, arms hanging at 45 degrees, knees apart, other names, a node above, twisted
/// rests.
inline Skeleton giant() {
  const float d = 0.4f;
  const Bone bones[] = {{"Armature", nullptr, {0.5f, 0, 0}},
                        {"pelvis", "Armature", {0, 2.0f, 0}},
                        {"spine", "pelvis", {0, 0.4f, 0.1f}},
                        {"neck", "spine", {0, 0.6f, 0}},
                        {"head", "neck", {0, 0.2f, 0.05f}},
                        {"upper_arm.L", "spine", {0.4f, 0.5f, 0}},
                        {"upper_arm_twist.L", "upper_arm.L", {d / 2, -d / 2, 0}},
                        {"forearm.L", "upper_arm.L", {d, -d, 0}},
                        {"hand.L", "forearm.L", {d, -d, 0.1f}},
                        {"upper_arm.R", "spine", {-0.4f, 0.5f, 0}},
                        {"forearm.R", "upper_arm.R", {-d, -d, 0}},
                        {"hand.R", "forearm.R", {-d, -d, 0.1f}},
                        {"thigh.L", "pelvis", {0.2f, -0.1f, 0}},
                        {"shin.L", "thigh.L", {0.2f, -0.9f, 0}},
                        {"foot.L", "shin.L", {0, -0.9f, 0}},
                        {"toe.L", "foot.L", {0, -0.1f, 0.1f}},
                        {"thigh.R", "pelvis", {-0.2f, -0.1f, 0}},
                        {"shin.R", "thigh.R", {-0.2f, -0.9f, 0}},
                        {"foot.R", "shin.R", {0, -0.9f, 0}},
                        {"toe.R", "foot.R", {0, -0.1f, 0.1f}}};
  return skeletonOf(bones, 0.4f);
}

inline void addRotation(Clip& clip, const Skeleton& s, const char* joint, const Vec3f& axis,
                        std::initializer_list<float> angles) {
  Track t{.channel = Channel::Rotation, .joint = s.find(joint)};
  for (const float angle : angles) {
    const Quatf q = s[t.joint].rest.rotation * Quatf(Eigen::AngleAxisf(angle, axis.normalized()));
    t.times_s.push_back(0.5f * float(t.times_s.size()));
    t.values.insert(t.values.end(), q.coeffs().data(), q.coeffs().data() + 4);
  }
  clip.tracks.push_back(t);
}

/// One second of moving about: every limb, the trunk and the root.
inline Clip walkOf(const Skeleton& s) {
  Clip clip;
  clip.name = "walk";
  addRotation(clip, s, "Hips", {0, 1, 0.2f}, {0.1f, 0.6f, 0.3f});
  addRotation(clip, s, "Spine", {1, 0.3f, 0}, {0, 0.4f, -0.2f});
  addRotation(clip, s, "Head", {0, 1, 0}, {0, 0.5f, -0.5f});
  addRotation(clip, s, "LeftArm", {0, 0.3f, -1}, {1.2f, 0.2f, 1.0f});
  addRotation(clip, s, "LeftForeArm", {0, 1, 0}, {-0.3f, -1.2f, -0.5f});
  addRotation(clip, s, "RightArm", {0.2f, 0, 1}, {1.2f, 0.4f, 1.0f});
  addRotation(clip, s, "LeftUpLeg", {1, 0, 0.1f}, {-0.6f, 0.5f, -0.6f});
  addRotation(clip, s, "LeftLeg", {1, 0, 0}, {0.2f, 0.9f, 0.2f});
  addRotation(clip, s, "RightUpLeg", {1, 0, 0}, {0.5f, -0.6f, 0.5f});
  addRotation(clip, s, "LeftFoot", {1, 0, 0}, {0.2f, -0.3f, 0.2f});
  Track root{.channel = Channel::Translation, .joint = s.find("Hips"), .times_s = {0, 0.5f, 1}};
  for (const Vec3f& p : {Vec3f(0, 1, 0), Vec3f(0.05f, 0.9f, 0.5f), Vec3f(0, 1, 1)})
    root.values.insert(root.values.end(), p.data(), p.data() + 3);
  clip.tracks.push_back(root);
  return clip;
}

inline std::vector<Affine3d> modelAt(const Skeleton& s, const Clip& clip, float time_s) {
  Pose pose{restTransforms(s), {}};
  sampleClip(clip, time_s, pose);
  std::vector<Affine3d> model(s.size());
  localToModel(s, pose.local, model);
  return model;
}

inline Vec3d positionOf(const Skeleton& s, const std::vector<Affine3d>& model, const char* joint) {
  return model[s.find(joint).index()].translation();
}

inline double degreesBetween(const Vec3d& a, const Vec3d& b) {
  return std::acos(std::clamp(a.normalized().dot(b.normalized()), -1.0, 1.0)) * 180 /
         std::numbers::pi;
}

}  // namespace derm::retarget_test
