#include "derm/anim/retarget.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include <gtest/gtest.h>

namespace derm {
namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

struct Bone {
  const char* name;
  const char* parent;  ///< nullptr for the root
  Vec3f offset;        ///< in model space, from the parent
};

/// A skeleton whose joints have the given model-space offsets, with rest rotations that differ per
/// joint, as rigs have them.
Skeleton skeletonOf(std::span<const Bone> bones, float twist) {
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
Skeleton person() {
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
Skeleton cutBody() {
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
Skeleton numberedBody() {
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
Skeleton giant() {
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

void addRotation(Clip& clip, const Skeleton& s, const char* joint, const Vec3f& axis,
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
Clip walkOf(const Skeleton& s) {
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

std::vector<Affine3d> modelAt(const Skeleton& s, const Clip& clip, float time_s) {
  Pose pose{restTransforms(s), {}};
  sampleClip(clip, time_s, pose);
  std::vector<Affine3d> model(s.size());
  localToModel(s, pose.local, model);
  return model;
}

Vec3d place(const Skeleton& s, const std::vector<Affine3d>& model, const char* joint) {
  return model[s.find(joint).index()].translation();
}

double degreesBetween(const Vec3d& a, const Vec3d& b) {
  return std::acos(std::clamp(a.normalized().dot(b.normalized()), -1.0, 1.0)) * 180 /
         std::numbers::pi;
}

constexpr const char* kLimbs[][4] = {{"LeftArm", "LeftForeArm", "upper_arm.L", "forearm.L"},
                                     {"LeftForeArm", "LeftHand", "forearm.L", "hand.L"},
                                     {"RightArm", "RightForeArm", "upper_arm.R", "forearm.R"},
                                     {"RightForeArm", "RightHand", "forearm.R", "hand.R"},
                                     {"LeftUpLeg", "LeftLeg", "thigh.L", "shin.L"},
                                     {"LeftLeg", "LeftFoot", "shin.L", "foot.L"},
                                     {"RightUpLeg", "RightLeg", "thigh.R", "shin.R"},
                                     {"RightLeg", "RightFoot", "shin.R", "foot.R"}};

/// The same limbs by the target's names; `turn` brings the source's directions to the target's
/// axes.
double worstLimbAngle(const Clip& clip, const Skeleton& source, const Clip& moved,
                      const Skeleton& target, const Names& names, const Quatd& turn) {
  const auto targetOf = [&](const char* name) -> std::string {
    for (const auto& [from, to] : names)
      if (from == name) return to;
    ADD_FAILURE() << name << " has no counterpart";
    return {};
  };
  double worst = 0;
  for (int k = 0; k <= 10; ++k) {
    const std::vector<Affine3d> s = modelAt(source, clip, 0.1f * float(k));
    const std::vector<Affine3d> m = modelAt(target, moved, 0.1f * float(k));
    for (const auto& limb : kLimbs)
      worst = std::max(
          worst, degreesBetween(turn * Vec3d(place(source, s, limb[1]) - place(source, s, limb[0])),
                                place(target, m, targetOf(limb[1]).c_str()) -
                                    place(target, m, targetOf(limb[0]).c_str())));
  }
  return worst;
}

/// How far the distance between any joint and its parent departs from rest, relative.
double worstBoneChange(const Skeleton& s, const Clip& clip, JointId but) {
  const std::vector<Affine3d> rest = restModelMatrices(s);
  double worst = 0;
  for (int k = 0; k <= 10; ++k) {
    const std::vector<Affine3d> m = modelAt(s, clip, 0.1f * float(k));
    for (std::size_t j = 0; j < s.size(); ++j) {
      const JointId parent = s.joints[j].parent;
      if (!parent.valid() || JointId(j) == but) continue;
      const double was = (rest[j].translation() - rest[parent.index()].translation()).norm();
      const double is = (m[j].translation() - m[parent.index()].translation()).norm();
      worst = std::max(worst, std::abs(is - was) / std::max(was, 1e-3));
    }
  }
  return worst;
}

double worstLimbAngle(const Clip& clip, const Skeleton& source, const Clip& moved,
                      const Skeleton& target) {
  double worst = 0;
  for (int k = 0; k <= 10; ++k) {
    const float t = 0.1f * float(k);
    const std::vector<Affine3d> s = modelAt(source, clip, t);
    const std::vector<Affine3d> m = modelAt(target, moved, t);
    for (const auto& limb : kLimbs)
      worst =
          std::max(worst, degreesBetween(place(source, s, limb[1]) - place(source, s, limb[0]),
                                         place(target, m, limb[3]) - place(target, m, limb[2])));
  }
  return worst;
}

TEST(JointNames, MatchAcrossTheUsualWaysOfWritingThem) {
  const auto one = [](const char* a, const char* b) {
    Skeleton s, t;
    s.joints.push_back({a, {}, {}});
    t.joints.push_back({b, {}, {}});
    return matchJointNames(s, t).size() == 1;
  };
  EXPECT_TRUE(one("LeftUpLeg", "mixamorig:LeftUpLeg"));
  EXPECT_TRUE(one("LeftUpLeg", "thigh_l"));
  EXPECT_TRUE(one("LeftUpLeg", "Bip01 L Thigh"));
  EXPECT_TRUE(one("LeftUpLeg", "leftUpperLeg"));
  EXPECT_TRUE(one("LeftUpLeg", "left_hip"));
  EXPECT_TRUE(one("LeftLeg", "calf_l"));
  EXPECT_TRUE(one("RightForeArm", "DEF-forearm.R"));
  EXPECT_TRUE(one("RightForeArm", "lowerarm_r"));
  EXPECT_TRUE(one("RightHandIndex1", "RightHandFinger1"));
  EXPECT_TRUE(one("LeftHandThumb2", "thumb_02_l"));
  EXPECT_TRUE(one("LHipJoint", "l_hip_joint"));
  EXPECT_TRUE(one("Hips", "pelvis"));
  EXPECT_TRUE(one("LeftShoulder", "clavicle_l"));
  EXPECT_TRUE(one("LeftToeBase", "ball_l"));
  EXPECT_FALSE(one("LeftArm", "RightArm"));
  EXPECT_FALSE(one("LeftArm", "LeftLeg"));
  EXPECT_FALSE(one("LeftFoot", "LeftFoot_end"));
  EXPECT_FALSE(one("", ""));
}

TEST(JointNames, EqualNamesWinOverSynonyms) {
  Skeleton s, t;
  for (const char* n : {"Spine", "Chest", "Spine1"}) s.joints.push_back({n, {}, {}});
  for (const char* n : {"spine1", "Spine", "Chest"}) t.joints.push_back({n, {}, {}});
  const Names wanted = {{"Spine", "Spine"}, {"Chest", "Chest"}, {"Spine1", "spine1"}};
  EXPECT_EQ(matchJointNames(s, t), wanted);
}

TEST(JointNames, OfBonesCutInSeveralTheFirstIsMeant) {
  const Names pairs = matchJointNames(person(), cutBody());
  const auto has = [&](const char* a, const char* b) {
    return std::count(pairs.begin(), pairs.end(), Names::value_type(a, b)) == 1;
  };
  EXPECT_TRUE(has("Hips", "root"));      // what legs and spine hang on
  EXPECT_TRUE(has("Spine", "spine01"));  // what the arms hang on, though numbered from the top
  EXPECT_TRUE(has("LeftArm", "upperarm01.L"));
  EXPECT_TRUE(has("LeftForeArm", "lowerarm01.L"));
  EXPECT_TRUE(has("LeftHand", "wrist.L"));
  EXPECT_TRUE(has("RightUpLeg", "upperleg01.R"));
  EXPECT_TRUE(has("RightLeg", "lowerleg01.R"));
  EXPECT_TRUE(has("RightFoot", "foot.R"));
  EXPECT_TRUE(has("Neck", "neck01"));
  EXPECT_TRUE(has("Head", "head"));
  for (const auto& [from, to] : pairs) EXPECT_EQ(to.find("02"), std::string::npos) << to;
}

TEST(JointNames, NumberedLimbsAreToldByTheirOrder) {
  const Names pairs = matchJointNames(person(), numberedBody());
  const auto has = [&](const char* a, const char* b) {
    return std::count(pairs.begin(), pairs.end(), Names::value_type(a, b)) == 1;
  };
  EXPECT_TRUE(has("Hips", "torso_joint_1"));
  EXPECT_TRUE(has("Spine", "torso_joint_2"));
  EXPECT_TRUE(has("Neck", "neck_joint_1"));
  EXPECT_TRUE(has("Head", "neck_joint_2"));
  EXPECT_TRUE(has("LeftArm", "Skeleton_arm_joint_L__4_"));
  EXPECT_TRUE(has("LeftHand", "Skeleton_arm_joint_L__2_"));
  EXPECT_TRUE(has("RightArm", "Skeleton_arm_joint_R"));
  EXPECT_TRUE(has("RightForeArm", "Skeleton_arm_joint_R__2_"));
  EXPECT_TRUE(has("LeftUpLeg", "leg_joint_L_1"));
  EXPECT_TRUE(has("LeftFoot", "leg_joint_L_3"));
  EXPECT_TRUE(has("LeftToeBase", "leg_joint_L_5"));
}

TEST(Retarget, EveryKindOfBodyKeepsItsBonesAndPointsItsLimbsAsTheSource) {
  const Skeleton source = person();
  const Clip clip = walkOf(source);
  for (const Skeleton& target : {giant(), cutBody(), numberedBody()}) {
    SCOPED_TRACE(target.joints[0].name);
    Diagnostics notes;
    const Result<Clip> moved = retarget(clip, source, target, {.rate_hz = 10}, notes);
    ASSERT_TRUE(moved.ok()) << moved.error().text();
    const Names names = matchJointNames(source, target);
    EXPECT_LT(worstLimbAngle(clip, source, *moved, target, names, Quatd::Identity()), 0.1);
    std::vector<JointId> translated;
    for (const Track& t : moved->tracks)
      if (t.channel == Channel::Translation) translated.push_back(t.joint);
    ASSERT_EQ(translated.size(), 1u);
    EXPECT_LT(worstBoneChange(target, *moved, translated[0]), 1e-5);
    for (const auto& [from, to] : names)
      EXPECT_TRUE(isBelow(target, target.find(to), translated[0])) << to;
  }
}

TEST(Retarget, AxesOfTheSourceAreBroughtToTheTargets) {
  // The same motion recorded with Z up, by an actor who looks along X.
  Skeleton source = person();
  const Clip clip = walkOf(source);
  const Quatd turn = (Quatd(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3d::UnitX())) *
                      Quatd(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3d::UnitY())));
  Skeleton recorded;
  recorded.joints.push_back({"World", {}, {}});
  recorded.joints[0].rest.rotation = turn.cast<float>();
  for (Joint j : source.joints) {
    j.parent = j.parent.valid() ? JointId(j.parent.index() + 1) : JointId(std::size_t{0});
    recorded.joints.push_back(j);
  }
  Clip turned = clip;
  for (Track& t : turned.tracks) t.joint = JointId(t.joint.index() + 1);
  for (const Skeleton& target : {giant(), cutBody()}) {
    Diagnostics notes;
    const Result<Clip> plain = retarget(clip, source, target, {.rate_hz = 10}, notes);
    const Result<Clip> moved = retarget(turned, recorded, target, {.rate_hz = 10}, notes);
    ASSERT_TRUE(plain.ok() && moved.ok());
    for (int k = 0; k <= 10; ++k) {
      const std::vector<Affine3d> a = modelAt(target, *plain, 0.1f * float(k));
      const std::vector<Affine3d> b = modelAt(target, *moved, 0.1f * float(k));
      for (std::size_t j = 0; j < target.size(); ++j)
        EXPECT_LT((a[j].matrix() - b[j].matrix()).cwiseAbs().maxCoeff(), 2e-5);
    }
  }
}

TEST(Retarget, APartOfABodyDoesNotCarryTheRestAway) {
  // Only the arms are mapped: the way must move all of the body, not what the arms hang on.
  const Skeleton source = person(), target = cutBody();
  Diagnostics notes;
  const Result<Clip> moved = retarget(
      walkOf(source), source, target,
      {.names = {{"LeftArm", "upperarm01.L"}, {"RightArm", "upperarm01.R"}, {"Head", "head"}}},
      notes);
  ASSERT_TRUE(moved.ok()) << moved.error().text();
  EXPECT_LT(worstBoneChange(target, *moved, target.find("root")), 1e-5);
}

TEST(Retarget, JointsOfSeparateTreesStayInPlace) {
  const Skeleton source = person();
  Skeleton target = person();
  for (const char* name : {"LeftUpLeg", "RightUpLeg", "Hips"})
    target.joints[target.find(name).index()].parent = JointId();
  Diagnostics notes;
  const Result<Clip> moved = retarget(walkOf(source), source, target, {}, notes);
  ASSERT_TRUE(moved.ok()) << moved.error().text();
  for (const Track& t : moved->tracks) EXPECT_EQ(t.channel, Channel::Rotation);
  EXPECT_EQ(notes.count("no-common-joint"), 1u);
}

TEST(MotionStart, SkipsAnOpeningPoseAndNothingElse) {
  const Skeleton s = person();
  const Clip walk = walkOf(s);
  Diagnostics notes;
  Result<Clip> dense = retarget(walk, s, s, {.rate_hz = 60}, notes);
  ASSERT_TRUE(dense.ok());
  EXPECT_EQ(motionStart(*dense, s), 0.0f);
  EXPECT_EQ(motionStart(walk, s), 0.0f);  // sparse keys are no recording
  EXPECT_EQ(motionStart(Clip{}, s), 0.0f);
  for (Track& t : dense->tracks) {
    if (t.channel != Channel::Rotation) continue;
    const Quatf rest = s[t.joint].rest.rotation;
    std::copy_n(rest.coeffs().data(), 4, t.values.begin());
  }
  EXPECT_NEAR(motionStart(*dense, s), 1.0f / 60, 1e-6);
}

TEST(Retarget, OntoTheSameSkeletonGivesTheSameMotion) {
  const Skeleton s = person();
  const Clip clip = walkOf(s);
  Diagnostics notes;
  const Result<Clip> moved = retarget(clip, s, s, {.rate_hz = 10}, notes);
  ASSERT_TRUE(moved.ok()) << moved.error().text();
  EXPECT_EQ(moved->name, "walk");
  for (int k = 0; k <= 10; ++k) {
    const std::vector<Affine3d> a = modelAt(s, clip, 0.1f * float(k));
    const std::vector<Affine3d> b = modelAt(s, *moved, 0.1f * float(k));
    for (std::size_t j = 0; j < s.size(); ++j)
      EXPECT_LT((a[j].matrix() - b[j].matrix()).cwiseAbs().maxCoeff(), 1e-5) << s.joints[j].name;
  }
}

TEST(Retarget, LimbsPointAsTheSourcesDoWhateverTheRestPose) {
  const Skeleton source = person(), target = giant();
  const Clip clip = walkOf(source);
  Diagnostics notes;
  const Result<Clip> moved = retarget(clip, source, target, {.rate_hz = 10}, notes);
  ASSERT_TRUE(moved.ok()) << moved.error().text();
  EXPECT_LT(worstLimbAngle(clip, source, *moved, target), 0.1);
  const Result<Clip> plain =
      retarget(clip, source, target, {.rate_hz = 10, .align_rest = false}, notes);
  ASSERT_TRUE(plain.ok());
  EXPECT_GT(worstLimbAngle(clip, source, *plain, target), 30);  // the A-pose shows
}

TEST(Retarget, TrunkAndHeadTurnByWhatTheSourcesTurnBy) {
  const Skeleton source = person(), target = giant();
  const Clip clip = walkOf(source);
  Diagnostics notes;
  const Result<Clip> moved = retarget(clip, source, target, {.rate_hz = 10}, notes);
  ASSERT_TRUE(moved.ok());
  const std::vector<Affine3d> s0 = restModelMatrices(source), t0 = restModelMatrices(target);
  for (const float t : {0.0f, 0.3f, 1.0f}) {
    const std::vector<Affine3d> s = modelAt(source, clip, t), m = modelAt(target, *moved, t);
    for (const auto& [from, to] :
         {std::pair{"Hips", "pelvis"}, {"Spine", "spine"}, {"Head", "head"}}) {
      const std::size_t a = source.find(from).index(), b = target.find(to).index();
      const Mat3d source_turn = s[a].linear() * s0[a].linear().transpose();
      const Mat3d target_turn = m[b].linear() * t0[b].linear().transpose();
      EXPECT_LT((source_turn - target_turn).norm(), 1e-5) << to;
    }
  }
}

TEST(Retarget, RootMotionScalesWithTheHeightOfTheHips) {
  const Skeleton source = person(), target = giant();
  const Clip clip = walkOf(source);
  Diagnostics notes;
  const Result<Clip> moved = retarget(clip, source, target, {.rate_hz = 10}, notes);
  ASSERT_TRUE(moved.ok());
  const std::vector<Affine3d> middle = modelAt(target, *moved, 0.5f);
  EXPECT_LT((place(target, middle, "pelvis") - Vec3d(0.6, 1.8, 1.0)).norm(), 1e-5);
  const Result<Clip> still =
      retarget(clip, source, target, {.rate_hz = 10, .root_motion = false}, notes);
  ASSERT_TRUE(still.ok());
  EXPECT_LT((place(target, modelAt(target, *still, 0.5f), "pelvis") - Vec3d(0.5, 2, 0)).norm(),
            1e-6);
}

TEST(Retarget, ASourceThatRestsAtTheOriginStillWalksOnTheGround) {
  Skeleton source = person();
  const Clip clip = walkOf(source);
  source.joints[0].rest.translation = Vec3f::Zero();  // as BVH files have it
  const Skeleton target = giant();
  Diagnostics notes;
  const Result<Clip> moved = retarget(clip, source, target, {.rate_hz = 10}, notes);
  ASSERT_TRUE(moved.ok());
  double low = 10;
  for (int k = 0; k <= 10; ++k) {
    const std::vector<Affine3d> m = modelAt(target, *moved, 0.1f * float(k));
    low = std::min({low, place(target, m, "toe.L").y(), place(target, m, "toe.R").y()});
  }
  EXPECT_NEAR(low, 0.0, 0.15);
}

TEST(Retarget, AReferenceInstantStandsForTheTargetsRest) {
  // The source opens with arms hanging; the target's rest is that very pose.
  const Skeleton source = person();
  Clip clip;
  clip.name = "c";
  addRotation(clip, source, "LeftArm", {0, 0, 1}, {-1.0f, 0.5f});
  addRotation(clip, source, "Hips", {0, 1, 0}, {0.3f, 0.3f});
  Skeleton target = source;
  Pose opening{restTransforms(source), {}};
  sampleClip(clip, 0.0f, opening);
  for (std::size_t j = 0; j < target.size(); ++j) target.joints[j].rest = opening.local[j];
  Diagnostics notes;
  const Result<Clip> moved =
      retarget(clip, source, target,
               {.rate_hz = 10, .source_reference_time_s = 0.0f, .align_rest = false}, notes);
  ASSERT_TRUE(moved.ok());
  const std::vector<Affine3d> a = modelAt(source, clip, 0.5f), b = modelAt(target, *moved, 0.5f);
  for (std::size_t j = 0; j < source.size(); ++j)
    EXPECT_LT((a[j].matrix() - b[j].matrix()).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(Retarget, StartSkipsTheOpening) {
  const Skeleton s = person();
  const Clip clip = walkOf(s);
  Diagnostics notes;
  const Result<Clip> moved = retarget(clip, s, s, {.rate_hz = 20, .start_s = 0.5f}, notes);
  ASSERT_TRUE(moved.ok());
  EXPECT_NEAR(moved->duration_s(), 0.5f, 1e-6);
  const std::vector<Affine3d> a = modelAt(s, clip, 0.5f), b = modelAt(s, *moved, 0.0f);
  EXPECT_LT((a[4].matrix() - b[4].matrix()).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(Retarget, UnmappedJointsKeepTheirRest) {
  const Skeleton source = person(), target = giant();
  Diagnostics notes;
  const Result<Clip> moved = retarget(walkOf(source), source, target, {}, notes);
  ASSERT_TRUE(moved.ok());
  for (const Track& t : moved->tracks) {
    EXPECT_NE(t.joint, target.find("upper_arm_twist.L"));
    EXPECT_NE(t.joint, target.find("Armature"));
  }
  EXPECT_EQ(notes.count("joint-not-mapped"), 2u);
}

TEST(Retarget, ErrorsNameWhatIsWrong) {
  const Skeleton source = person(), target = giant();
  const Clip clip = walkOf(source);
  const auto errorOf = [&](const RetargetDesc& desc) {
    Diagnostics notes;
    const Result<Clip> moved = retarget(clip, source, target, desc, notes);
    return moved.ok() ? std::string("no error") : moved.error().text();
  };
  EXPECT_EQ(errorOf({.names = {{"Hips", "pelvis"}, {"Hipps", "spine"}, {"Neck", "neck"}}}),
            "names, source[1]: no joint named \"Hipps\"; did you mean \"Hips\"?");
  EXPECT_EQ(errorOf({.names = {{"Hips", "pelvi"}}}),
            "names, target[0]: no joint named \"pelvi\"; did you mean \"pelvis\"?");
  EXPECT_EQ(errorOf({.names = {{"Hips", "pelvis"}, {"Hips", "spine"}, {"Neck", "neck"}}}),
            "names[1]: \"Hips\" or \"spine\" is used twice");
  EXPECT_EQ(
      errorOf({.names = {{"Hips", "pelvis"}, {"Neck", "neck"}}}),
      "only 2 of the motion's 18 joints match the character's 20 by name; give a table of names");
  EXPECT_EQ(errorOf({.rate_hz = 0}), "rate_hz must be > 0");
  EXPECT_NE(errorOf({.rate_hz = 1e12f}).find("too many keys"), std::string::npos);
  EXPECT_NE(errorOf({.source_reference_time_s = 2.0f}).find("source_reference_time_s"),
            std::string::npos);
  EXPECT_NE(errorOf({.start_s = -1.0f}).find("start_s"), std::string::npos);
}

TEST(Retarget, NeighbouringKeysNeverJumpInSign) {
  const Skeleton source = person(), target = giant();
  Diagnostics notes;
  const Result<Clip> moved = retarget(walkOf(source), source, target, {.rate_hz = 120}, notes);
  ASSERT_TRUE(moved.ok());
  for (const Track& t : moved->tracks) {
    if (t.channel != Channel::Rotation) continue;
    for (std::size_t k = 4; k < t.values.size(); k += 4) {
      float dot = 0;
      for (std::size_t i = 0; i < 4; ++i) dot += t.values[k + i] * t.values[k + i - 4];
      EXPECT_GT(dot, 0);
    }
  }
}

}  // namespace
}  // namespace derm
