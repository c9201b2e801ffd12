// Real recordings on a real rig: CMU motion capture on MakeHuman bodies.

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "derm/anim/retarget.h"
#include "derm/io/bvh.h"
#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"

#include "support/unpacked.h"

namespace derm {
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

}  // namespace
}  // namespace derm
