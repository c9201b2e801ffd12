#include <fstream>

#include <gtest/gtest.h>

#include "cli/run_program.h"

/// derm face retarget.
namespace derm::cli_test::face_retarget_test {
namespace {

TEST(FaceRetarget, PlaysAMotionOnAnotherHead) {
  const Folder folder;
  const std::string out = folder / "c.glb", tracks = folder / "c.csv";
  const Outcome o = derm({"face", "retarget", "cast:head-a", "cast:head-c", "--clip", "blink",
                          "--name", "borrowed", "-o", out, "--tracks", tracks});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("clip \"borrowed\", 22 frames, 0.35 s"), std::string::npos) << o.out;
  EXPECT_NE(contentOf(out).find("borrowed"), std::string::npos);
  EXPECT_TRUE(contentOf(tracks).starts_with("time,2.1.x,2.1.y,2.1.z,"));
  // What was written is a source itself: the table, and the character.
  for (const std::string& source : {tracks, out}) {
    const Outcome again =
        derm({"face", "retarget", source, "cast:head-b", "--clip", "borrowed", "--also",
              "cast:head-a:clip=joy:regions=mouth,cheeks:offset=0.1", "--regions", "eyes,brows",
              "--gain", "eyes=1,brows=0.5", "-o", folder / "b.glb"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
  }
}

TEST(FaceRetarget, PointsThatAreNoFaceAreRefused) {
  const Folder folder;
  const std::string tracks = folder / "a.csv", out = folder / "b.glb";
  ASSERT_EQ(derm({"face", "retarget", "cast:head-a", "cast:head-c", "--clip", "joy", "-o",
                  folder / "c.glb", "--tracks", tracks})
                .exit_code,
            0);
  const std::string good = contentOf(tracks);
  const auto played = [&](const std::string& text) {
    std::ofstream(tracks) << text;
    return derm({"face", "retarget", tracks, "cast:head-b", "-o", out});
  };
  std::string swapped = good;
  for (const char axis : {'x', 'y', 'z'}) {
    const std::string left = std::string("8.3.") + axis, right = std::string("8.4.") + axis;
    const std::size_t at_left = swapped.find("," + left), at_right = swapped.find("," + right);
    swapped.replace(at_left + 1, left.size(), right);
    swapped.replace(at_right + 1, right.size(), left);
  }
  const Outcome sides = played(swapped);
  EXPECT_EQ(sides.exit_code, 1);
  EXPECT_NE(sides.err.find("a.csv: points: left and right are swapped for 8.3 (mouth_corner_left), "
                           "8.4 (mouth_corner_right)"),
            std::string::npos)
      << sides.err;
  // A number of the last frame that is of another unit.
  std::string far = good;
  far.replace(far.rfind(',') + 1, std::string::npos, "1000\n");
  const Outcome away = played(far);
  EXPECT_EQ(away.exit_code, 1);
  EXPECT_NE(away.err.find("times the size of the face away from its place at rest"),
            std::string::npos)
      << away.err;
  const Outcome few = played(
      "time,8.1.x,8.1.y,8.1.z,8.2.x,8.2.y,8.2.z,8.3.x,8.3.y,8.3.z,8.4.x,8.4.y,8.4.z\n"
      "0,0,0,2,0,-1,2,2,-0.5,1,-2,-0.5,1\n1,0,0,2,0,-2,2,2,-0.5,1,-2,-0.5,1\n");
  EXPECT_EQ(few.exit_code, 0) << few.err;
  EXPECT_NE(few.err.find("the source does not have these, so they stay: 2.1, "), std::string::npos)
      << few.err;
}

TEST(FaceRetarget, MarkersMustBePoints) {
  const Folder folder;
  const std::string take = folder / "take.bvh", map = folder / "names.txt";
  std::ofstream(take) << "HIERARCHY\nROOT hips\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition "
                         "Zposition\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 2\nFrame "
                         "Time: 0.033\n0 0 0\n0 1 0\n";
  const auto error = [&](const std::string& table) {
    std::vector<std::string> all = {"face",        "retarget", take,
                                    "cast:head-b", "-o",       folder / "b.glb"};
    if (!table.empty()) all.insert(all.end(), {"--map", map});
    std::ofstream(map) << table;
    const Outcome o = derm(all);
    EXPECT_EQ(o.exit_code, 1);
    return o.err;
  };
  EXPECT_NE(
      error("").find("take.bvh: no joint is named like a point of a face; there are \"hips\""),
      std::string::npos)
      << error("");
  EXPECT_NE(error("hips = 8.1\nfoo = 8.2\n")
                .find("names.txt: \"foo = 8.2\": the motion has no joint \"foo\""),
            std::string::npos);
  EXPECT_NE(error("hips = 99.9\n")
                .find("names.txt: \"hips = 99.9\": no point of a face is called \"99.9\""),
            std::string::npos);
}

TEST(FaceRetarget, SideOutputsOfAWrongEndingAreRefused) {
  const Folder folder;
  const auto refused = [&](const std::string& option, const std::string& file) {
    const Outcome o = derm({"face", "retarget", "no such file", "cast:head-b", "-o",
                            folder / "b.glb", option, folder / file});
    EXPECT_EQ(o.exit_code, 2) << o.err;
    EXPECT_NE(o.err.find(file + ": cannot be written so; the ending must be .csv"),
              std::string::npos)
        << o.err;
  };
  refused("--tracks", "t.xyz");
  refused("--coefficients", "t.json");
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
  EXPECT_NE(bad.err.find("bad.csv:1:5: columns are separated by \";\""), std::string::npos)
      << bad.err;
  std::ofstream(folder / "few.csv") << "time,8.1.x,8.1.y,8.1.z\n0,1,2,3\n";
  const Outcome few = derm({"face", "retarget", folder / "few.csv", "cast:head-b", "-o", out});
  EXPECT_EQ(few.exit_code, 1);
  EXPECT_NE(few.err.find("share 1 labels, but four are needed: 8.1"), std::string::npos) << few.err;
}

}  // namespace
}  // namespace derm::cli_test::face_retarget_test
