#include "derm/anim/pose.h"

#include <gtest/gtest.h>

namespace derm::pose_test {
namespace {

TEST(Pose, ACopyIsEqualWhateverWasThereBefore) {
  Pose from;
  from.local.resize(3);
  from.local[1].translation = Vec3f(1, -2, 3);
  from.local[2].rotation = Quatf(0.6f, 0, 0.8f, 0);
  from.local[2].scale = Vec3f(-1, 2, 1);
  from.morph_weights = {0.25f};
  from.controls = {0.5f, 1};
  Pose empty, same = from, longer = from;
  same.local[1].scale = Vec3f(9, 9, 9);
  longer.local.resize(7);
  longer.morph_weights.resize(4);
  for (Pose* to : {&empty, &same, &longer}) {
    copyPose(from, *to);
    EXPECT_EQ(*to, from);
  }
  copyPose(Pose(), same);
  EXPECT_EQ(same, Pose());
}

}  // namespace
}  // namespace derm::pose_test
