#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/run_program.h"

/// derm face retarget.
namespace derm::cli_test {
namespace {

std::string textOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(FaceRetarget, PlaysAMotionOnAnotherHead) {
  const Folder folder;
  const std::string out = folder / "c.glb", tracks = folder / "c.csv";
  const Outcome o = derm({"face", "retarget", "cast:head-a", "cast:head-c", "--clip", "blink",
                          "--name", "borrowed", "-o", out, "--tracks", tracks});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("clip \"borrowed\", 22 frames, 0.35 s"), std::string::npos) << o.out;
  EXPECT_NE(textOf(out).find("borrowed"), std::string::npos);
  EXPECT_TRUE(textOf(tracks).starts_with("time,2.1.x,2.1.y,2.1.z,"));
  // What was written is a source itself: the table, and the character.
  for (const std::string& source : {tracks, out}) {
    const Outcome again =
        derm({"face", "retarget", source, "cast:head-b", "--clip", "borrowed", "--also",
              "cast:head-a:clip=joy:regions=mouth,cheeks:offset=0.1", "--regions", "eyes,brows",
              "--gain", "eyes=1,brows=0.5", "-o", folder / "b.glb"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
  }
}

TEST(FaceRetarget, SaysWhatIsWrong) {
  const Folder folder;
  const std::string out = folder / "x.glb";
  const auto error = [&](std::vector<std::string> options) {
    std::vector<std::string> all = {"face", "retarget", "cast:head-a", "cast:head-b", "-o", out};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome o = derm(all);
    EXPECT_NE(o.exit_code, 0);
    return o.err;
  };
  EXPECT_NE(error({"--regions", "ears"}).find("no region of a face"), std::string::npos);
  EXPECT_NE(error({"--gain", "mouth"}).find("is not REGION=FACTOR"), std::string::npos);
  EXPECT_NE(error({"--also", "regions=eyes"}).find("names no source"), std::string::npos);
  EXPECT_NE(error({"--kernel", "x"}).find("kernel"), std::string::npos);
  EXPECT_NE(error({"--amplitude", "2"}).find("must be 0 to 1"), std::string::npos);
  const Outcome bare = derm({"face", "retarget", "cast:head-a", "cast:sphere", "-o", out});
  EXPECT_EQ(bare.exit_code, 1);
  EXPECT_NE(bare.err.find("has no control points"), std::string::npos) << bare.err;
  std::ofstream(folder / "bad.csv") << "time;8.1.x;8.1.y\n0;1;2\n";
  const Outcome bad = derm({"face", "retarget", folder / "bad.csv", "cast:head-b", "-o", out});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.err.find("bad.csv:1:5: columns are separated by ';'"), std::string::npos)
      << bad.err;
  std::ofstream(folder / "few.csv") << "time,8.1.x,8.1.y,8.1.z\n0,1,2,3\n";
  const Outcome few = derm({"face", "retarget", folder / "few.csv", "cast:head-b", "-o", out});
  EXPECT_EQ(few.exit_code, 1);
  EXPECT_NE(few.err.find("share 1 labels, but four are needed: 8.1"), std::string::npos) << few.err;
}

}  // namespace
}  // namespace derm::cli_test
