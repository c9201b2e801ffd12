#include "derm/anim/retarget.h"

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
