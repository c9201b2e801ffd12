#include "derm/base/nearest_name.h"

#include <gtest/gtest.h>

namespace derm::nearest_name_test {
namespace {

const std::vector<std::string> kClips{"Run", "Jump", "Walk_Backwards", "Idle", "walk"};

TEST(NearestName, IgnoresCaseAndSeparators) {
  EXPECT_EQ(nearestNames("walkbackwards", kClips).front(), "Walk_Backwards");
  EXPECT_EQ(nearestNames("JUMP", kClips).front(), "Jump");
}

TEST(NearestName, FindsTyposAndLeavesFarNamesOut) {
  EXPECT_EQ(nearestNames("jmup", kClips).front(), "Jump");
  EXPECT_TRUE(nearestNames("swimming", kClips).empty());
}

TEST(NearestName, HintListsTheNearestOrSomeOrSaysThereAreNone) {
  EXPECT_EQ(didYouMean("jum", kClips), "; did you mean \"Jump\" or \"Run\"?");
  EXPECT_EQ(didYouMean("swimming", kClips),
            "; there are \"Run\", \"Jump\", \"Walk_Backwards\", \"Idle\", \"walk\"");
  EXPECT_EQ(didYouMean("x", {}), "; there are none");
}

TEST(NearestName, HugeNamesStayCheap) {
  const std::vector<std::string> names(200, std::string(100000, 'a'));
  EXPECT_LE(nearestNames(std::string(100000, 'b'), names).size(), 3u);
}

}  // namespace
}  // namespace derm::nearest_name_test
