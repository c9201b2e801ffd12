// Real recordings on real rigs: CMU motion capture on MakeHuman bodies and other characters.

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "derm/anim/retarget.h"
#include "derm/io/bvh.h"
#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"

#include "support/unpacked.h"

namespace derm::retarget_data_test {
namespace {

constexpr float kFrame_s = 0.0083333f;

std::vector<Affine3d> modelAt(const Skeleton& s, const Clip& clip, float time_s) {
  Pose pose{restTransforms(s), {}};
  sampleClip(clip, time_s, pose);
  std::vector<Affine3d> model(s.size());
  localToModel(s, pose.local, model);
  return model;
}

class MotionOnBody : public testing::Test {
 protected:
  /// Loads the body and the clip, and carries the clip over, its opening T-pose as reference.
  void carry(const std::filesystem::path& bodies, const std::filesystem::path& motions,
             const std::string& clip) {
    Diagnostics notes;
    Result<Character> body =
        loadCharacter(bodies / "mh_A_caucasian_male_young_cmurig31.glb", {}, notes);
    ASSERT_TRUE(body.ok()) << body.error().text();
    body_ = *std::move(body);
    Result<BvhMotion> motion = loadBvh(motions / clip, {}, notes);
    ASSERT_TRUE(motion.ok()) << motion.error().text();
    motion_ = *std::move(motion);
    RetargetDesc desc;
    desc.rate_hz = 60;
    desc.source_reference_time_s = 0.0f;
    desc.start_s = kFrame_s;
    Result<Clip> moved = retarget(motion_.clip, motion_.skeleton, body_.skeleton, desc, notes);
    ASSERT_TRUE(moved.ok()) << moved.error().text();
    moved_ = *std::move(moved);
  }
  Vec3d source(const char* joint, float time_s) const {
    return modelAt(motion_.skeleton, motion_.clip,
                   time_s + kFrame_s)[motion_.skeleton.find(joint).index()]
        .translation();
  }
  Vec3d target(const char* joint, float time_s) const {
    return modelAt(body_.skeleton, moved_, time_s)[body_.skeleton.find(joint).index()]
        .translation();
  }

  Character body_;
  BvhMotion motion_;
  Clip moved_;
};

TEST_F(MotionOnBody, AllJointsOfTheRigAreFoundByTheirNames) {
  DERM_PACKED_DATA_OR_SKIP(bodies, "makehuman");
  DERM_DATA_OR_SKIP(motions, "mocap-cmu-bvh");
  ASSERT_NO_FATAL_FAILURE(carry(bodies, motions, "02_01.bvh"));
  EXPECT_EQ(matchJointNames(motion_.skeleton, body_.skeleton).size(), 31u);
}

TEST_F(MotionOnBody, LimbsPointAsTheActorsDid) {
  DERM_PACKED_DATA_OR_SKIP(bodies, "makehuman");
  DERM_DATA_OR_SKIP(motions, "mocap-cmu-bvh");
  for (const char* clip : {"02_01.bvh", "09_01.bvh", "13_11.bvh", "02_05.bvh", "05_06.bvh"}) {
    SCOPED_TRACE(clip);
    ASSERT_NO_FATAL_FAILURE(carry(bodies, motions, clip));
    double worst = 0;
    for (int k = 0; k <= 20; ++k) {
      // At keys, so that interpolation plays no part.
      const float t = std::floor(moved_.duration_s() * 60 * float(k) / 20) / 60;
      for (const char* side : {"Left", "Right"})
        for (const auto& [from, to] : {std::pair{"Arm", "ForeArm"},
                                       {"ForeArm", "Hand"},
                                       {"UpLeg", "Leg"},
                                       {"Leg", "Foot"}}) {
          const std::string a = std::string(side) + from, b = std::string(side) + to;
          const Vec3d wanted = (source(b.c_str(), t) - source(a.c_str(), t)).normalized();
          const Vec3d got = (target(b.c_str(), t) - target(a.c_str(), t)).normalized();
          worst = std::max(worst, std::acos(std::clamp(wanted.dot(got), -1.0, 1.0)));
        }
    }
    EXPECT_LT(worst * 180 / std::numbers::pi, 1.0);
  }
}

TEST_F(MotionOnBody, WalkingKeepsTheHeadUpTheFeetApartAndOnTheGround) {
  DERM_PACKED_DATA_OR_SKIP(bodies, "makehuman");
  DERM_DATA_OR_SKIP(motions, "mocap-cmu-bvh");
  for (const char* clip : {"02_01.bvh", "09_01.bvh"}) {
    SCOPED_TRACE(clip);
    ASSERT_NO_FATAL_FAILURE(carry(bodies, motions, clip));
    const double ground = bounds(body_.mesh.positions).low.y();
    const double height = bounds(body_.mesh.positions).size().y();
    double lowest = 1e9;
    for (float t = 0; t < moved_.duration_s(); t += 0.1f) {
      const Vec3d hips = target("Hips", t);
      EXPECT_GT(target("Head", t).y() - hips.y(), 0.25 * height) << t;
      // Across the hips, the left foot stays to the left of the right one.
      const Vec3d across = (target("LeftUpLeg", t) - target("RightUpLeg", t)).normalized();
      EXPECT_GT((target("LeftFoot", t) - target("RightFoot", t)).dot(across), -0.02) << t;
      EXPECT_GT((target("LeftHand", t) - hips).dot(across), 0.05) << t;
      EXPECT_LT((target("RightHand", t) - hips).dot(across), -0.05) << t;
      for (const char* toe : {"LeftToeBase", "RightToeBase"})
        lowest = std::min(lowest, target(toe, t).y() - ground);
    }
    EXPECT_GT(lowest, -0.05);
    EXPECT_LT(lowest, 0.12);
    // A walk of 1.1 to 1.8 m/s, a run of 2.5 to 5: the scale of the way fits the body.
    const double speed =
        (target("Hips", moved_.duration_s()) - target("Hips", 0)).norm() / moved_.duration_s();
    EXPECT_GT(speed, std::string(clip) == "02_01.bvh" ? 0.8 : 2.0);
    EXPECT_LT(speed, std::string(clip) == "02_01.bvh" ? 2.0 : 6.0);
  }
}

constexpr const char* kClips[] = {"02_01.bvh", "09_01.bvh", "13_11.bvh", "02_05.bvh", "05_06.bvh"};

/// How a recording sits on a character: worst angle between the directions of a limb here and
/// there [deg], worst relative change of any bone's length.
struct Fit {
  double angle_deg = 0;
  double bone_change = 0;
};

std::string counterpart(const std::vector<std::pair<std::string, std::string>>& names,
                        const std::string& source) {
  for (const auto& [from, to] : names)
    if (from == source) return to;
  ADD_FAILURE() << source << " has no counterpart";
  return {};
}

Fit fitOf(const BvhMotion& motion, const Skeleton& target) {
  Diagnostics notes;
  RetargetDesc desc;
  desc.start_s = motionStart(motion.clip, motion.skeleton);
  desc.source_reference_time_s = 0.0f;
  EXPECT_NEAR(desc.start_s, kFrame_s, 1e-6);
  const Result<Clip> moved = retarget(motion.clip, motion.skeleton, target, desc, notes);
  EXPECT_TRUE(moved.ok()) << moved.error().text();
  const auto names = matchJointNames(motion.skeleton, target);
  const std::vector<Affine3d> rest = restModelMatrices(target);
  JointId carrier;
  for (const Track& t : moved->tracks)
    if (t.channel == Channel::Translation) carrier = t.joint;
  EXPECT_TRUE(carrier.valid());
  Fit fit;
  for (int k = 0; k <= 20; ++k) {
    const float t = std::floor(moved->duration_s() * 60 * float(k) / 20) / 60;
    const std::vector<Affine3d> s = modelAt(motion.skeleton, motion.clip, desc.start_s + t);
    const std::vector<Affine3d> m = modelAt(target, *moved, t);
    for (const char* side : {"Left", "Right"})
      for (const auto& [from, to] :
           {std::pair{"Arm", "ForeArm"}, {"ForeArm", "Hand"}, {"UpLeg", "Leg"}, {"Leg", "Foot"}}) {
        const std::string a = std::string(side) + from, b = std::string(side) + to;
        const auto bone = [](const Skeleton& sk, const std::vector<Affine3d>& at,
                             const std::string& x, const std::string& y) {
          return Vec3d(at[sk.find(y).index()].translation() - at[sk.find(x).index()].translation())
              .normalized();
        };
        const double cosine =
            bone(motion.skeleton, s, a, b)
                .dot(bone(target, m, counterpart(names, a), counterpart(names, b)));
        fit.angle_deg = std::max(fit.angle_deg,
                                 std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / std::numbers::pi);
      }
    for (std::size_t j = 0; j < target.size(); ++j) {
      const JointId parent = target.joints[j].parent;
      if (!parent.valid() || JointId(j) == carrier) continue;
      const auto length = [&](const std::vector<Affine3d>& at) {
        return (at[j].translation() - at[parent.index()].translation()).norm();
      };
      fit.bone_change = std::max(fit.bone_change,
                                 std::abs(length(m) - length(rest)) / std::max(length(rest), 1e-3));
    }
  }
  return fit;
}

TEST(MotionOnBodies, EveryRecordingFitsEveryBodyOfTheSet) {
  DERM_PACKED_DATA_OR_SKIP(bodies, "makehuman");
  DERM_DATA_OR_SKIP(motions, "mocap-cmu-bvh");
  for (const char* body :
       {"mh_A_caucasian_male_young_rig163.glb", "mh_B_african_female_young_rig163.glb",
        "mh_C_asian_male_old_heavy_rig163.glb", "mh_D_caucasian_female_young_heavy_rig163.glb",
        "mh_D_caucasian_female_young_heavy_cmurig31.glb"}) {
    Diagnostics notes;
    const Result<Character> character = loadCharacter(bodies / body, {}, notes);
    ASSERT_TRUE(character.ok()) << character.error().text();
    for (const char* clip : kClips) {
      SCOPED_TRACE(std::string(body) + " " + clip);
      const Result<BvhMotion> motion = loadBvh(motions / clip, {}, notes);
      ASSERT_TRUE(motion.ok());
      const Fit fit = fitOf(*motion, character->skeleton);
      EXPECT_LT(fit.angle_deg, 0.5);
      EXPECT_LT(fit.bone_change, 1e-4);
    }
  }
}

TEST(MotionOnBodies, EveryRecordingFitsTheOtherCharacters) {
  DERM_DATA_OR_SKIP(characters, "gltf-characters");
  DERM_DATA_OR_SKIP(motions, "mocap-cmu-bvh");
  for (const char* file : {"CesiumMan.glb", "RiggedFigure.glb", "KayKit_Knight.glb"}) {
    Diagnostics notes;
    const Result<Character> character = loadCharacter(characters / file, {}, notes);
    ASSERT_TRUE(character.ok()) << character.error().text();
    for (const char* clip : kClips) {
      SCOPED_TRACE(std::string(file) + " " + clip);
      const Result<BvhMotion> motion = loadBvh(motions / clip, {}, notes);
      ASSERT_TRUE(motion.ok());
      const Fit fit = fitOf(*motion, character->skeleton);
      EXPECT_LT(fit.angle_deg, 0.5);
      EXPECT_LT(fit.bone_change, 1e-4);
    }
  }
}

}  // namespace
}  // namespace derm::retarget_data_test
