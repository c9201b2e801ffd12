#include "derm/anim/retarget.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numbers>

#include <gtest/gtest.h>

#include "derm/anim/body_joints.h"

#include "anim/retarget_rig.h"

namespace derm::retarget_test {
namespace {

using namespace retarget_test;
using Names = std::vector<std::pair<std::string, std::string>>;

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
      worst = std::max(worst, degreesBetween(turn * Vec3d(positionOf(source, s, limb[1]) -
                                                          positionOf(source, s, limb[0])),
                                             positionOf(target, m, targetOf(limb[1]).c_str()) -
                                                 positionOf(target, m, targetOf(limb[0]).c_str())));
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

/// The same between person() and giant().
double worstLimbAngle(const Clip& clip, const Skeleton& source, const Clip& moved,
                      const Skeleton& target) {
  Names names;
  for (const auto& limb : kLimbs) {
    names.emplace_back(limb[0], limb[2]);
    names.emplace_back(limb[1], limb[3]);
  }
  return worstLimbAngle(clip, source, moved, target, names, Quatd::Identity());
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

TEST(JointNames, BodiesOfEveryCommonRigAreKnownAsBodies) {
  const char* const known[] = {"pelvis",  "spine",     "neck",        "head",      "upper_arm.L",
                               "hand.L",  "forearm.L", "upper_arm.R", "forearm.R", "hand.R",
                               "thigh.L", "shin.L",    "foot.L",      "toe.L",     "thigh.R",
                               "shin.R",  "foot.R",    "toe.R"};
  const char* const rigs[][18] = {
      {"Bip01 Pelvis", "Bip01 Spine", "Bip01 Neck", "Bip01 Head", "Bip01 L UpperArm",
       "Bip01 L Hand", "Bip01 L Forearm", "Bip01 R UpperArm", "Bip01 R Forearm", "Bip01 R Hand",
       "Bip01 L Thigh", "Bip01 L Calf", "Bip01 L Foot", "Bip01 L Toe0", "Bip01 R Thigh",
       "Bip01 R Calf", "Bip01 R Foot", "Bip01 R Toe0"},
      {"ValveBiped.Bip01_Pelvis", "ValveBiped.Bip01_Spine", "ValveBiped.Bip01_Neck1",
       "ValveBiped.Bip01_Head1", "ValveBiped.Bip01_L_UpperArm", "ValveBiped.Bip01_L_Hand",
       "ValveBiped.Bip01_L_Forearm", "ValveBiped.Bip01_R_UpperArm", "ValveBiped.Bip01_R_Forearm",
       "ValveBiped.Bip01_R_Hand", "ValveBiped.Bip01_L_Thigh", "ValveBiped.Bip01_L_Calf",
       "ValveBiped.Bip01_L_Foot", "ValveBiped.Bip01_L_Toe0", "ValveBiped.Bip01_R_Thigh",
       "ValveBiped.Bip01_R_Calf", "ValveBiped.Bip01_R_Foot", "ValveBiped.Bip01_R_Toe0"},
      {"J_Bip_C_Hips", "J_Bip_C_Spine", "J_Bip_C_Neck", "J_Bip_C_Head", "J_Bip_L_UpperArm",
       "J_Bip_L_Hand", "J_Bip_L_LowerArm", "J_Bip_R_UpperArm", "J_Bip_R_LowerArm", "J_Bip_R_Hand",
       "J_Bip_L_UpperLeg", "J_Bip_L_LowerLeg", "J_Bip_L_Foot", "J_Bip_L_ToeBase",
       "J_Bip_R_UpperLeg", "J_Bip_R_LowerLeg", "J_Bip_R_Foot", "J_Bip_R_ToeBase"},
      {"Character1_Hips", "Character1_Spine", "Character1_Neck", "Character1_Head",
       "Character1_LeftArm", "Character1_LeftHand", "Character1_LeftForeArm", "Character1_RightArm",
       "Character1_RightForeArm", "Character1_RightHand", "Character1_LeftUpLeg",
       "Character1_LeftLeg", "Character1_LeftFoot", "Character1_LeftToeBase",
       "Character1_RightUpLeg", "Character1_RightLeg", "Character1_RightFoot",
       "Character1_RightToeBase"},
      {"Hips", "Spine", "Neck", "Head", "Left arm", "Left wrist", "Left elbow", "Right arm",
       "Right elbow", "Right wrist", "Left leg", "Left knee", "Left ankle", "Left toe", "Right leg",
       "Right knee", "Right ankle", "Right toe"},
      {"hip", "abdomenLower", "neckLower", "head", "lShldrBend", "lHand", "lForearmBend",
       "rShldrBend", "rForearmBend", "rHand", "lThighBend", "lShin", "lFoot", "lToe", "rThighBend",
       "rShin", "rFoot", "rToe"},
      {"root.x", "spine_01.x", "neck.x", "head.x", "arm_stretch.l", "hand.l", "forearm_stretch.l",
       "arm_stretch.r", "forearm_stretch.r", "hand.r", "thigh_stretch.l", "leg_stretch.l", "foot.l",
       "toes_01.l", "thigh_stretch.r", "leg_stretch.r", "foot.r", "toes_01.r"},
      {"センター", "上半身", "首", "頭", "左腕", "左手首", "左ひじ", "右腕", "右ひじ", "右手首",
       "左足", "左ひざ", "左足首", "左つま先", "右足", "右ひざ", "右足首", "右つま先"},
      {"腰", "上半身", "首", "頭", "腕.L", "手首.L", "ひじ.L", "腕.R", "ひじ.R", "手首.R", "足D.L",
       "ひざＤ.L", "足首D.L", "足先EX.L", "足D.R", "ひざＤ.R", "足首D.R", "足先ＥＸ.R"}};
  const Names plain = matchJointNames(person(), giant());
  ASSERT_EQ(plain.size(), std::size(known));
  for (const auto& rig : rigs) {
    Skeleton body = giant();
    Names wanted = plain;
    for (std::size_t i = 0; i < std::size(known); ++i) {
      body.joints[giant().find(known[i]).index()].name = rig[i];
      for (auto& [from, to] : wanted)
        if (to == known[i]) to = rig[i];
    }
    EXPECT_EQ(upperArms(body).size(), 2u) << rig[0];
    EXPECT_EQ(matchJointNames(person(), body), wanted) << rig[0];
  }
}

TEST(JointNames, RolesThatAFileGivesCountForMoreThanNames) {
  const char* const roles[][2] = {{"pelvis", "hips"},
                                  {"spine", "spine"},
                                  {"neck", "neck"},
                                  {"head", "head"},
                                  {"upper_arm.L", "leftUpperArm"},
                                  {"forearm.L", "leftLowerArm"},
                                  {"hand.L", "leftHand"},
                                  {"upper_arm.R", "rightUpperArm"},
                                  {"forearm.R", "rightLowerArm"},
                                  {"hand.R", "rightHand"},
                                  {"thigh.L", "leftUpperLeg"},
                                  {"shin.L", "leftLowerLeg"},
                                  {"foot.L", "leftFoot"},
                                  {"toe.L", "leftToes"},
                                  {"thigh.R", "rightUpperLeg"},
                                  {"shin.R", "rightLowerLeg"},
                                  {"foot.R", "rightFoot"},
                                  {"toe.R", "rightToes"}};
  Names wanted = matchJointNames(person(), giant());
  ASSERT_EQ(wanted.size(), std::size(roles));
  Skeleton body = giant();
  for (std::size_t i = 0; i < std::size(roles); ++i) {
    const std::size_t joint = giant().find(roles[i][0]).index();
    // Names that say nothing, or something wrong.
    body.joints[joint].name = i == 0 ? "left arm" : "bone_" + std::to_string(i);
    body.joints[joint].role = roles[i][1];
    for (auto& [from, to] : wanted)
      if (to == roles[i][0]) to = body.joints[joint].name;
  }
  EXPECT_EQ(upperArms(body).size(), 2u);
  EXPECT_EQ(matchJointNames(person(), body), wanted);
  for (Joint& joint : body.joints) joint.role.clear();
  EXPECT_EQ(upperArms(body).size(), 0u);
}

TEST(JointNames, JapaneseFingersAndHelpersAreToldApart) {
  const auto match = [](const char* a, const char* b) {
    Skeleton s, t;
    s.joints.push_back({a, {}, {}});
    t.joints.push_back({b, {}, {}});
    return matchJointNames(s, t).size() == 1;
  };
  EXPECT_TRUE(match("LeftHandIndex1", "左人指１"));
  EXPECT_TRUE(match("RightHandThumb2", "右親指2"));
  EXPECT_TRUE(match("LeftShoulder", "左肩"));
  EXPECT_FALSE(match("LeftUpLeg", "左足ＩＫ"));
  EXPECT_FALSE(match("LeftArm", "左腕捩"));
  EXPECT_FALSE(match("LeftHandIndex1", "右人指１"));
}

TEST(JointNames, APelvisBesideTheSpineIsNotTheHips) {
  const Bone bones[] = {{"CC_Base_BoneRoot", nullptr, {0, 0, 0}},
                        {"CC_Base_Hip", "CC_Base_BoneRoot", {0, 1.0f, 0}},
                        {"CC_Base_Pelvis", "CC_Base_Hip", {0, 0.02f, 0}},
                        {"CC_Base_L_Thigh", "CC_Base_Pelvis", {0.1f, 0, 0}},
                        {"CC_Base_L_Calf", "CC_Base_L_Thigh", {0, -0.5f, 0}},
                        {"CC_Base_L_Foot", "CC_Base_L_Calf", {0, -0.45f, 0}},
                        {"CC_Base_R_Thigh", "CC_Base_Pelvis", {-0.1f, 0, 0}},
                        {"CC_Base_R_Calf", "CC_Base_R_Thigh", {0, -0.5f, 0}},
                        {"CC_Base_R_Foot", "CC_Base_R_Calf", {0, -0.45f, 0}},
                        {"CC_Base_Waist", "CC_Base_Hip", {0, 0.1f, 0}},
                        {"CC_Base_Spine01", "CC_Base_Waist", {0, 0.2f, 0}},
                        {"CC_Base_L_Upperarm", "CC_Base_Spine01", {0.2f, 0.2f, 0}},
                        {"CC_Base_L_Forearm", "CC_Base_L_Upperarm", {0.3f, 0, 0}},
                        {"CC_Base_R_Upperarm", "CC_Base_Spine01", {-0.2f, 0.2f, 0}},
                        {"CC_Base_R_Forearm", "CC_Base_R_Upperarm", {-0.3f, 0, 0}}};
  const Skeleton body = skeletonOf(bones, 0);
  const Names pairs = matchJointNames(person(), body);
  EXPECT_EQ(std::count(pairs.begin(), pairs.end(), Names::value_type("Hips", "CC_Base_Hip")), 1);
  EXPECT_EQ(upperArms(body).size(), 2u);
}

TEST(JointNames, ANeckThatTheArmsHangOnIsNoPartOfTheSpine) {
  Skeleton body = giant();
  const JointId neck = body.find("neck");
  for (const char* arm : {"upper_arm.L", "upper_arm.R"})
    body.joints[body.find(arm).index()].parent = neck;
  const Names pairs = matchJointNames(person(), body);
  EXPECT_EQ(std::count(pairs.begin(), pairs.end(), Names::value_type("Neck", "neck")), 1);
  EXPECT_EQ(std::count(pairs.begin(), pairs.end(), Names::value_type("Spine", "spine")), 1);
  EXPECT_EQ(upperArms(body).size(), 2u);
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

/// The names of a person on four legs: arms under the shoulders, spine level.
Skeleton animal() {
  const Bone bones[] = {{"Hips", nullptr, {0, 0.5f, -0.4f}},
                        {"Spine", "Hips", {0, 0, 0.4f}},
                        {"Neck", "Spine", {0, 0.05f, 0.4f}},
                        {"Head", "Neck", {0, 0.1f, 0.1f}},
                        {"LeftArm", "Spine", {0.1f, -0.05f, 0.35f}},
                        {"LeftForeArm", "LeftArm", {0, -0.2f, -0.05f}},
                        {"LeftHand", "LeftForeArm", {0, -0.25f, 0.05f}},
                        {"RightArm", "Spine", {-0.1f, -0.05f, 0.35f}},
                        {"RightForeArm", "RightArm", {0, -0.2f, -0.05f}},
                        {"RightHand", "RightForeArm", {0, -0.25f, 0.05f}},
                        {"LeftUpLeg", "Hips", {0.1f, 0, 0}},
                        {"LeftLeg", "LeftUpLeg", {0, -0.25f, 0.05f}},
                        {"LeftFoot", "LeftLeg", {0, -0.25f, -0.05f}},
                        {"RightUpLeg", "Hips", {-0.1f, 0, 0}},
                        {"RightLeg", "RightUpLeg", {0, -0.25f, 0.05f}},
                        {"RightFoot", "RightLeg", {0, -0.25f, -0.05f}}};
  return skeletonOf(bones, 0.0f);
}

// All names matched, and the animal played the motion metres above the ground.
TEST(Retarget, AMotionOnTwoLegsIsRefusedByABodyOnFour) {
  const Skeleton two = person(), four = animal();
  Diagnostics notes;
  for (const bool up : {true, false}) {
    const Skeleton &source = up ? four : two, &target = up ? two : four;
    const Result<Clip> moved = retarget(walkOf(source), source, target, {}, notes);
    ASSERT_FALSE(moved.ok());
    EXPECT_EQ(moved.error().code, ErrorCode::BadData);
    EXPECT_NE(moved.error().message.find(up ? "is of a body on four legs" : "stands on four legs"),
              std::string::npos)
        << moved.error().message;
    // Whoever says which joints are meant gets them.
    EXPECT_TRUE(retarget(walkOf(source), source, target,
                         {.names = {{"Head", "Head"}, {"Neck", "Neck"}, {"Spine", "Spine"}}}, notes)
                    .ok());
    EXPECT_TRUE(retarget(walkOf(source), source, source, {}, notes).ok());
  }
}

// Meshes are called like the limbs that they show: matched first, they left their bones behind.
TEST(Retarget, BonesOfTheSkinCountBeforeNodesNamedLikeThem) {
  const Skeleton source = person();
  Skeleton target;
  for (const char* mesh : {"LeftArm", "LeftForeArm", "RightArm", "LeftUpLeg", "LeftLeg", "Head"})
    target.joints.push_back({mesh, JointId(), {}});
  const std::size_t meshes = target.size();
  for (Joint joint : person().joints) {
    if (joint.parent.valid()) joint.parent = JointId(joint.parent.index() + meshes);
    target.joints.push_back(joint);
  }
  RetargetDesc desc;
  desc.target_bones.assign(target.size(), true);
  for (std::size_t i = 0; i < meshes; ++i) desc.target_bones[i] = false;
  // A node above the bones is not one of them, and is needed.
  desc.target_bones[meshes] = false;
  Diagnostics notes;
  const Result<Clip> moved = retarget(walkOf(source), source, target, desc, notes);
  ASSERT_TRUE(moved.ok()) << moved.error().text();
  for (const Track& track : moved->tracks) EXPECT_GE(track.joint.index(), meshes);
  EXPECT_EQ(moved->tracks.size(), source.size() + 1);
  const Result<MotionMatch> match = matchMotion(source, target, desc);
  ASSERT_TRUE(match.ok());
  EXPECT_EQ(match->pairs.size(), source.size());
  EXPECT_TRUE(match->target_left.empty()) << match->text();
  const auto arm = std::find_if(match->pairs.begin(), match->pairs.end(),
                                [](const auto& pair) { return pair.first == "LeftArm"; });
  ASSERT_NE(arm, match->pairs.end());
  EXPECT_EQ(arm->second, "LeftArm#2");
}

TEST(Retarget, TheMatchSaysWhatIsLeftOnEitherSide) {
  Skeleton source = person(), target = person();
  source.joints.push_back({"LThumb", source.find("LeftHand"), {}});
  for (const char* name : {"tail1", "tail2"})
    target.joints.push_back({name, target.find("Hips"), {}});
  const Result<MotionMatch> match = matchMotion(source, target, {});
  ASSERT_TRUE(match.ok());
  EXPECT_TRUE(match->bodies);
  EXPECT_EQ(match->source_left, std::vector<std::string>{"LThumb"});
  EXPECT_EQ(match->target_left, (std::vector<std::string>{"tail1", "tail2"}));
  EXPECT_EQ(
      match->text(),
      "18 of the motion's 19 joints move 18 of the character's 20; move nothing: LThumb; stay "
      "at rest: tail1, tail2");
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

TEST(Retarget, WhatDoesNotStandStaysWhereItRests) {
  // An arm that lies level and then hangs down: the hand below it is no ground to be lifted onto.
  const std::vector<Bone> bones = {{"upper_arm", nullptr, {0, 1.4f, 0}},
                                   {"forearm", "upper_arm", {0.3f, 0, 0}},
                                   {"hand", "forearm", {0.3f, 0, 0}},
                                   {"finger", "hand", {0.1f, -0.01f, 0}}};
  const Skeleton s = skeletonOf(bones, 0);
  Clip clip;
  addRotation(clip, s, "forearm", {0, 0, 1}, {-1.2f, -1.5f, -1.2f});
  addRotation(clip, s, "hand", {1, 0, 0}, {0, 0.5f, 0});
  Diagnostics notes;
  const Result<Clip> moved = retarget(clip, s, s, {.rate_hz = 10}, notes);
  ASSERT_TRUE(moved.ok()) << moved.error().text();
  for (const float t : {0.0f, 0.5f, 1.0f}) {
    const std::vector<Affine3d> a = modelAt(s, clip, t), b = modelAt(s, *moved, t);
    for (std::size_t j = 0; j < s.size(); ++j)
      EXPECT_LT((a[j].translation() - b[j].translation()).norm(), 1e-5) << s.joints[j].name;
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

/// The same body at rest, with a joint that mirrors along x and what hangs on it made up for that.
Skeleton mirroredAt(Skeleton s, const char* name) {
  const JointId mirror = s.find(name);
  s.joints[mirror.index()].rest.scale = Vec3f(-1, 1, 1);
  for (std::size_t j = 0; j < s.size(); ++j) {
    if (JointId(j) == mirror || !isBelow(s, JointId(j), mirror)) continue;
    Transform& rest = s.joints[j].rest;
    rest.translation.x() = -rest.translation.x();
    rest.rotation =
        Quatf(rest.rotation.w(), rest.rotation.x(), -rest.rotation.y(), -rest.rotation.z());
  }
  return s;
}

TEST(Retarget, WhatHangsOnAMirroredJointMovesAsWithoutTheMirror) {
  const Skeleton source = person(), plain = giant(), mirrored = mirroredAt(plain, "upper_arm.R");
  const auto farthest = [](const Skeleton& s, const Clip& a, const Skeleton& t, const Clip& b) {
    double most = 0;
    for (int k = 0; k <= 10; ++k) {
      const std::vector<Affine3d> at = modelAt(s, a, 0.1f * float(k));
      const std::vector<Affine3d> other = modelAt(t, b, 0.1f * float(k));
      for (std::size_t j = 0; j < at.size(); ++j)
        most = std::max(most, (at[j].translation() - other[j].translation()).norm());
    }
    return most;
  };
  Diagnostics notes;
  const Result<Clip> a = retarget(walkOf(source), source, plain, {.rate_hz = 10}, notes);
  const Result<Clip> b = retarget(walkOf(source), source, mirrored, {.rate_hz = 10}, notes);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_LT(farthest(plain, *a, mirrored, *b), 1e-4);
  const Result<Clip> from_a = retarget(*a, plain, source, {.rate_hz = 10}, notes);
  const Result<Clip> from_b = retarget(*b, mirrored, source, {.rate_hz = 10}, notes);
  ASSERT_TRUE(from_a.ok() && from_b.ok());
  EXPECT_LT(farthest(source, *from_a, source, *from_b), 1e-4);
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
  EXPECT_LT((positionOf(target, middle, "pelvis") - Vec3d(0.6, 1.8, 1.0)).norm(), 1e-5);
  const Result<Clip> still =
      retarget(clip, source, target, {.rate_hz = 10, .root_motion = false}, notes);
  ASSERT_TRUE(still.ok());
  EXPECT_LT((positionOf(target, modelAt(target, *still, 0.5f), "pelvis") - Vec3d(0.5, 2, 0)).norm(),
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
    low = std::min({low, positionOf(target, m, "toe.L").y(), positionOf(target, m, "toe.R").y()});
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

TEST(Retarget, AHeadThatNodsInTheOpeningPoseDoesNotLookUpAfterwards) {
  const Skeleton source = person(), target = giant();
  Clip clip;
  clip.name = "c";
  addRotation(clip, source, "LeftArm", {0, 0, 1}, {-0.2f, 0.5f});
  addRotation(clip, source, "Head", {1, 0, 0}, {0.3f, 0.0f});
  Diagnostics notes;
  const Result<Clip> moved =
      retarget(clip, source, target, {.rate_hz = 10, .source_reference_time_s = 0.0f}, notes);
  ASSERT_TRUE(moved.ok()) << moved.error().text();
  const std::size_t head = target.find("head").index();
  const Mat3d rest = restModelMatrices(target)[head].linear();
  const Mat3d after = modelAt(target, *moved, clip.duration_s())[head].linear();
  const Mat3d before = modelAt(target, *moved, 0.0f)[head].linear();
  EXPECT_LT((after - rest).norm(), 1e-5);
  EXPECT_NEAR(Quatd(before).angularDistance(Quatd(rest)), 0.3, 1e-5);
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

/// A motion of person() whose hips go through these places, legs as they rest unless swung.
Clip hipsThrough(const Skeleton& s, const std::vector<std::pair<float, Vec3f>>& places) {
  Clip clip;
  clip.name = "hips";
  Track root{.channel = Channel::Translation, .joint = s.find("Hips"), .times_s = {}};
  for (const auto& [time_s, p] : places) {
    root.times_s.push_back(time_s);
    root.values.insert(root.values.end(), p.data(), p.data() + 3);
  }
  clip.tracks.push_back(std::move(root));
  return clip;
}

std::vector<Stance> stancesOf(const Clip& clip) {
  const Skeleton source = person(), target = giant();
  Diagnostics notes;
  RetargetOutcome outcome;
  const Result<Clip> moved = retarget(clip, source, target, {}, notes, &outcome);
  EXPECT_TRUE(moved.ok()) << moved.error().text();
  for (const Stance& s : outcome.stances) EXPECT_LT(s.first, s.last);
  return outcome.stances;
}

/// person() in another size, hanging on a root that lies on the floor.
Skeleton onARoot(float size) {
  Skeleton s = person();
  for (Joint& j : s.joints) {
    j.rest.translation *= size;
    j.parent = j.parent.valid() ? JointId(j.parent.index() + 1) : JointId(0);
  }
  Joint root;
  root.name = "root";
  s.joints.insert(s.joints.begin(), root);
  return s;
}

TEST(Retarget, HipsMoveAgainstARootOnTheFloorAsTheSourcesDo) {
  const Skeleton source = onARoot(1), target = onARoot(1.5f);
  // The root goes on and turns, the hips go down and up on it.
  Clip clip;
  clip.tracks.push_back({.channel = Channel::Translation,
                         .joint = source.find("root"),
                         .times_s = {0, 1},
                         .values = {0, 0, 0, 0, 0, 1}});
  clip.tracks.push_back({.channel = Channel::Rotation,
                         .joint = source.find("root"),
                         .times_s = {0, 1},
                         .values = {0, 0, 0, 1, 0, 0.70710678f, 0, 0.70710678f}});
  clip.tracks.push_back({.channel = Channel::Translation,
                         .joint = source.find("Hips"),
                         .times_s = {0, 0.5f, 1},
                         .values = {0, 1, 0, 0.1f, 0.85f, 0.2f, 0, 1, 0}});
  Diagnostics notes;
  RetargetOutcome outcome;
  const Result<Clip> moved = retarget(clip, source, target, {}, notes, &outcome);
  ASSERT_TRUE(moved.ok()) << moved.error().text();
  EXPECT_EQ(outcome.hips, target.find("Hips"));
  EXPECT_EQ(outcome.clearance_m.size(), 61u);  // it stands, though its root has no height
  for (const float t : {0.0f, 0.25f, 0.5f, 1.0f}) {
    const std::vector<Affine3d> s = modelAt(source, clip, t), m = modelAt(target, *moved, t);
    for (const char* joint : {"root", "Hips", "LeftFoot", "Head"})
      EXPECT_LT((1.5 * positionOf(source, s, joint) - positionOf(target, m, joint)).norm(), 1e-4)
          << joint << " at " << t;
  }
}

TEST(Retarget, FeetStandWhereTheyAreLowAndStill) {
  const Skeleton source = person(), target = giant();
  // Stands for half a second, leaps for 0.4 s and stands for half a second again.
  const Clip leap = hipsThrough(source, {{0.0f, {0, 1, 0}},
                                         {0.5f, {0, 1, 0}},
                                         {0.7f, {0, 1.4f, 0.4f}},
                                         {0.9f, {0, 1, 0.8f}},
                                         {1.4f, {0, 1, 0.8f}}});
  const std::vector<Stance> stances = stancesOf(leap);
  ASSERT_EQ(stances.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(stances[i].joint, target.find(i < 2 ? "foot.L" : "foot.R")) << i;
    const std::size_t first = i % 2 == 0 ? 0 : 54, last = i % 2 == 0 ? 30 : 84;  // keys at 60 Hz
    EXPECT_NEAR(static_cast<double>(stances[i].first), static_cast<double>(first), 2) << i;
    EXPECT_NEAR(static_cast<double>(stances[i].last), static_cast<double>(last), 2) << i;
  }
}

TEST(Retarget, FeetThatSlideAllTheTimeAndHandsThatHangStandNowhere) {
  const Skeleton source = person();
  // As on skates: both feet on the ground at 1.5 m/s.
  const Clip skates = hipsThrough(source, {{0.0f, {0, 1, 0}}, {2.0f, {0, 1, 3}}});
  EXPECT_TRUE(stancesOf(skates).empty());
  const Clip still = hipsThrough(source, {{0.0f, {0, 1, 0}}, {2.0f, {0, 1, 0}}});
  EXPECT_EQ(stancesOf(still).size(), 2u);  // two feet, no hands
  // A touch of one key is noise.
  const Clip touch =
      hipsThrough(source, {{0.0f, {0, 1.5f, 0}}, {1.0f, {0, 1.0f, 1.0f}}, {2.0f, {0, 1.5f, 2.0f}}});
  EXPECT_TRUE(stancesOf(touch).empty());
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
  // Without names it is the motion that does not fit.
  const Skeleton tail = skeletonOf(
      std::vector<Bone>{{"tail_1", nullptr, {0, 0, 0}}, {"tail_2", "tail_1", {0, 0, 1}}}, 0.0f);
  Diagnostics notes;
  EXPECT_EQ(retarget(clip, source, tail, {}, notes).error().code, ErrorCode::BadData);
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
}  // namespace derm::retarget_test
