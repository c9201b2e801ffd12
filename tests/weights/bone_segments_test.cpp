#include "derm/weights/bone_segments.h"

#include <gtest/gtest.h>

#include "weights/weights_rig.h"

namespace derm::bone_segments_test {
namespace {

using namespace weights_rig;

std::vector<BoneSegment> segmentsOf(const Rig& rig, Diagnostics& notes) {
  return boneSegments(rig.skeleton, rig.bones, rig.bind_model, rig.mesh.positions, notes);
}

std::vector<BoneSegment> segmentsOf(const Rig& rig) {
  Diagnostics notes;
  return segmentsOf(rig, notes);
}

TEST(BoneSegments, AJointReachesToEveryBoneBelowIt) {
  Rig rig;
  addJoints(rig, {{-1, {0, 0, 0}}, {0, {1, -1, 0}}, {0, {-1, -1, 0}}, {0, {0, 1, 0}}});
  rig.bones = {JointId(0), JointId(1), JointId(2), JointId(3)};
  const std::vector<BoneSegment> s = segmentsOf(rig);
  ASSERT_EQ(s.size(), 3u);  // the ends have no surface beyond them
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(s[i].slot, 0u);
    EXPECT_EQ(s[i].after, BoneSegment::kNone) << "what begins there was left out";
    EXPECT_EQ(s[i].to, rig.bind_model[i + 1].translation());
  }
}

TEST(BoneSegments, JointsThatAreNoBonesArePassedOver) {
  Rig rig;
  addChain(rig, {0, 1, 2, 3, 4});
  rig.bones = {JointId(0), JointId(3)};  // 1 and 2 are helpers, 4 is an end joint
  const std::vector<BoneSegment> s = segmentsOf(rig);
  ASSERT_EQ(s.size(), 2u);
  EXPECT_EQ(s[0].to.z(), 3);
  EXPECT_EQ(s[0].after, 1u);
  EXPECT_EQ(s[1].before, 0u);
  EXPECT_EQ(s[1].to.z(), 4);
  EXPECT_EQ(s[1].depth, 3u);
}

TEST(BoneSegments, AnEndGoesOnThroughTheSurfaceBeyondIt) {
  Rig rig;
  rig.mesh = closedCylinder(evenHeights(31, 6.0), 12, 0.5);
  addChain(rig, {0, 2, 4});
  const std::vector<BoneSegment> s = segmentsOf(rig);
  ASSERT_EQ(s.size(), 3u);
  EXPECT_EQ(s[2].slot, 2u);
  EXPECT_EQ(s[2].from.z(), 4);
  EXPECT_NEAR(s[2].to.z(), 4 + 0.75 * 2, 1e-6);
  EXPECT_NEAR(s[2].to.head<2>().norm(), 0, 1e-9);
}

TEST(BoneSegments, AnEndAtTheEndOfTheSurfaceIsAMarkOnly) {
  const Rig rig = twoBoneTube();
  Diagnostics notes;
  const std::vector<BoneSegment> s = segmentsOf(rig, notes);
  ASSERT_EQ(s.size(), 2u);
  EXPECT_EQ(s[1].after, BoneSegment::kNone);
  ASSERT_EQ(notes.count("bone-without-length"), 1u);
  EXPECT_EQ(notes.notes()[0].first_indices[0], 2u);
}

TEST(BoneSegments, BonesWithoutLengthAreLeftOutAndBridged) {
  Rig rig;
  addChain(rig, {0, 2, 2, 4});  // the third joint sits on the second
  rig.mesh = closedCylinder(evenHeights(9, 4.0), 8, 0.5);
  Diagnostics notes;
  const std::vector<BoneSegment> s = segmentsOf(rig, notes);
  ASSERT_EQ(s.size(), 2u);
  EXPECT_EQ(s[0].slot, 0u);
  EXPECT_EQ(s[0].after, 2u);
  EXPECT_EQ(s[1].slot, 2u);
  EXPECT_EQ(s[1].before, 0u);
  EXPECT_EQ(notes.count("bone-without-length"), 2u);
}

TEST(BoneSegments, ALonelyJointIsAPoint) {
  Rig rig = twoBoneTube(5, 6);
  rig.skeleton.joints.resize(1);
  rig.bind_model.resize(1);
  rig.bones.resize(1);
  const std::vector<BoneSegment> s = segmentsOf(rig);
  ASSERT_EQ(s.size(), 1u);
  EXPECT_TRUE(s[0].isPoint());
}

TEST(BonePoints, AreTheJointsInTheirOrder) {
  const Rig rig = fork();
  const std::vector<BoneSegment> points = bonePoints(rig.skeleton, rig.bones, rig.bind_model);
  ASSERT_EQ(points.size(), 5u);
  for (std::size_t b = 0; b < 5; ++b) {
    EXPECT_TRUE(points[b].isPoint());
    EXPECT_EQ(points[b].slot, b);
    EXPECT_EQ(points[b].from, rig.bind_model[b].translation());
  }
}

}  // namespace
}  // namespace derm::bone_segments_test
