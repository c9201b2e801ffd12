// Motions of other files, taken by joint names: the recipe's keys "motion" and "motion_map".
#include "derm/scene/motion.h"

#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/scene/scene.h"

#include "support/compare.h"
#include "support/test_folder.h"

namespace derm::motion_test {
namespace {

using testing_support::maxDistance;

class Motion : public testing_support::FolderTest {
 protected:
  static const std::shared_ptr<const Character>& arm() {
    static const auto made = std::make_shared<const Character>(makeCastMember("arm").value());
    return made;
  }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(folder_ / file) << text;
  }
  /// The recipe's text, kept in the folder, at work on the arm.
  Result<Scene> opened(const std::string& text, Diagnostics& notes) const {
    write("r.toml", text);
    DERM_TRY(const Recipe recipe, loadRecipe(folder_ / "r.toml"));
    return openScene(recipe, {.character = arm()}, notes);
  }
  std::string errorOf(const std::string& text) const {
    Diagnostics notes;
    const Result<Scene> scene = opened(text, notes);
    return scene.ok() ? "no error" : scene.error().text();
  }
};

std::set<std::size_t> movedJoints(const Clip& clip) {
  std::set<std::size_t> out;
  for (const Track& t : clip.tracks) out.insert(t.joint.index());
  return out;
}

TEST_F(Motion, IsTheLastClipAndTheDefault) {
  Diagnostics notes;
  Result<Scene> taken = opened("motion = \"cast:arm\"", notes);
  ASSERT_TRUE(taken.ok()) << taken.error().text();
  EXPECT_EQ(taken->character()->clips.size(), arm()->clips.size() + 1);
  EXPECT_EQ(taken->clip(), &taken->character()->clips.back());
  // Its own motion, taken from itself, is the motion it has.
  Result<Scene> own = opened("", notes);
  ASSERT_TRUE(own.ok());
  ASSERT_EQ(own->frameTimes().size(), taken->frameTimes().size());
  for (std::size_t i = 0; i < own->frameTimes().size(); i += 10) {
    const SkinFrame& a = own->frame(i);
    const SkinFrame& b = taken->frame(i);
    EXPECT_LT(maxDistance(a.positions(), b.positions()), 1e-4) << i;  // [m]; keys at 60 Hz
  }
}

TEST_F(Motion, IsOneClipAmongOthersWhereAClipIsNamed) {
  Diagnostics notes;
  const Result<Scene> scene = opened("motion = \"cast:arm\"\nclip = 0", notes);
  ASSERT_TRUE(scene.ok()) << scene.error().text();
  EXPECT_EQ(scene->clip(), &scene->character()->clips.front());
}

TEST_F(Motion, TakesNamesFromATableBesideTheRecipe) {
  write("names.txt", "upper_arm = upper_arm\nforearm = forearm\nhand = hand\n");
  Diagnostics notes;
  const Result<Scene> all = opened("motion = \"cast:arm\"", notes);
  const Result<Scene> some = opened("motion = \"cast:arm\"\nmotion_map = \"names.txt\"", notes);
  ASSERT_TRUE(all.ok());
  ASSERT_TRUE(some.ok()) << some.error().text();
  EXPECT_EQ(movedJoints(*some->clip()).size(), 3u);
  EXPECT_GT(movedJoints(*all->clip()).size(), 3u);
}

TEST_F(Motion, ErrorsNameTheLineOrTheFile) {
  const std::string r = (folder_ / "r.toml").string();
  EXPECT_NE(errorOf("fps = 30\nmotion = \"none.bvh\"").find(r + ":2:10"), std::string::npos)
      << errorOf("fps = 30\nmotion = \"none.bvh\"");
  EXPECT_NE(errorOf("motion = \"none.bvh\"").find("none.bvh"), std::string::npos);
  EXPECT_NE(errorOf("motion_map = \"names.txt\"").find("for a motion"), std::string::npos);
  write("broken.bvh", "HIERARCHY\nROOT");
  EXPECT_NE(errorOf("motion = \"broken.bvh\"").find("broken.bvh"), std::string::npos);
  write("still.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const std::string still = errorOf("motion = \"still.obj\"");
  EXPECT_NE(still.find("still.obj"), std::string::npos) << still;
  EXPECT_NE(still.find("no clip to take a motion from"), std::string::npos) << still;
  write("names.txt", "upper_arm = uper_arm\nforearm = forearm\nhand = hand\n");
  const std::string unknown = errorOf("motion = \"cast:arm\"\nmotion_map = \"names.txt\"");
  EXPECT_NE(unknown.find("upper_arm"), std::string::npos) << unknown;
}

}  // namespace
}  // namespace derm::motion_test
