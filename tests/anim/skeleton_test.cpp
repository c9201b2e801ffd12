#include "derm/anim/skeleton.h"

#include <numbers>

#include <gtest/gtest.h>

namespace derm::skeleton_test {
namespace {

/// Three joints along z, L = 2; joint 1 turned about +y.
Skeleton chain() {
  Skeleton s;
  s.joints = {{"j0", {}, {}}, {"j1", JointId(0), {}}, {"j2", JointId(1), {}}};
  s.joints[1].rest.translation = s.joints[2].rest.translation = Vec3f(0, 0, 1);
  return s;
}

TEST(Skeleton, ChainGivesTheReportsJointPositions) {
  const Vec3d expected[4] = {{0, 0, 2}, {0.5, 0, 1.866025}, {0.866025, 0, 1.5}, {1, 0, 1}};
  for (int k = 0; k < 4; ++k) {
    Skeleton s = chain();
    s.joints[1].rest.rotation =
        Quatf(Eigen::AngleAxisf(float(std::numbers::pi / 6) * float(k), Vec3f::UnitY()));
    EXPECT_LT((restModelMatrices(s)[2].translation() - expected[k]).norm(), 1e-6);
  }
}

TEST(Skeleton, MissingNameListsTheNearest) {
  const Skeleton s = chain();
  EXPECT_EQ(s.named("j1")->index(), 1u);
  EXPECT_NE(s.named("J 1_").error().message.find("\"j1\""), std::string::npos);
  EXPECT_FALSE(s.find("x").valid());
}

TEST(Skeleton, JointsOfOneNameAreToldApartByNumber) {
  Skeleton s = chain();
  s.joints[2].name = "j0";
  s.joints.push_back({"j0", JointId(0), {}});
  s.joints.push_back({"odd#2", JointId(0), {}});
  const std::vector<std::string> names = {"j0", "j1", "j0#2", "j0#3", "odd#2"};
  EXPECT_EQ(s.names(), names);
  for (std::size_t j = 0; j < names.size(); ++j) EXPECT_EQ(s.find(names[j]).index(), j);
  for (const char* none : {"j0#4", "j0#1", "j0#", "j0#x", "j1#2", "#2"})
    EXPECT_FALSE(s.find(none).valid()) << none;
}

TEST(Skeleton, ValidateWantsParentsFirstAndUnitRotations) {
  Skeleton s = chain();
  EXPECT_TRUE(validate(s, "f").ok());
  s.joints[1].parent = JointId(2);
  EXPECT_EQ(validate(s, "f").error().where.index, 1u);
  s = chain();
  s.joints[2].rest.rotation = Quatf(2, 0, 0, 0);
  EXPECT_NE(validate(s, "f").error().text().find("joint \"j2\""), std::string::npos);
}

TEST(Skeleton, BelowMeansInTheSubtree) {
  Skeleton s = chain();
  s.joints.push_back({"other", {}, {}});
  EXPECT_TRUE(isBelow(s, JointId(2), JointId(0)));
  EXPECT_TRUE(isBelow(s, JointId(0), JointId(0)));
  EXPECT_FALSE(isBelow(s, JointId(0), JointId(1)));
  EXPECT_FALSE(isBelow(s, JointId(3), JointId(0)));
}

}  // namespace
}  // namespace derm::skeleton_test
