#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/run_program.h"

/// derm face retarget with coefficients of ARKit's shapes.
namespace derm::cli_test {
namespace {

constexpr const char* kTake =
    "Timecode,BlendShapeCount,EyeBlinkLeft,JawOpen,MouthSmileLeft,HeadYaw\n"
    "10:00:00:56.000,61,0,0,0,0\n10:00:00:58.000,61,1,0.2,0.1,0.2\n"
    "10:00:01:00.000,61,0.5,0.6,0.5,0.1\n10:00:01:02.000,61,0,0,0.9,0\n";

std::string textOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(FaceCoefficients, PlayOnABareHeadAndComeBack) {
  const Folder folder;
  const std::string take = folder / "take.csv", out = folder / "a.glb", again = folder / "a.csv";
  std::ofstream(take) << kTake;
  const Outcome o = derm({"face", "retarget", take, "cast:head-a", "-o", out, "--coefficients",
                          again, "--tracks", folder / "points.csv"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("clip \"take\", 4 frames, 0.10 s, the head moves"), std::string::npos)
      << o.out;
  EXPECT_NE(textOf(out).find("fp_8_1_upper_lip_middle"), std::string::npos);  // it got a rig
  EXPECT_TRUE(textOf(again).starts_with("Timecode,BlendShapeCount,EyeBlinkLeft,EyeLookDownLeft"));
  // From points, coefficients are found.
  const Outcome found = derm({"face", "retarget", folder / "points.csv", "cast:head-a", "-o",
                              folder / "b.glb", "--coefficients", folder / "b.csv"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  EXPECT_TRUE(textOf(folder / "b.csv").starts_with("Timecode,BlendShapeCount,EyeBlinkLeft"));
}

TEST(FaceCoefficients, PlayOnShapesUnlessTheRigIsAskedFor) {
  const Folder folder;
  const std::string take = folder / "take.csv", shaped = folder / "shaped.glb";
  std::ofstream(take) << kTake;
  ASSERT_EQ(derm({"face", "shapes", "cast:head-a", "-o", shaped}).exit_code, 0);
  const Outcome o = derm({"face", "retarget", take, shaped, "-o", folder / "played.glb"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const std::string played = textOf(folder / "played.glb");
  EXPECT_NE(played.find("\"weights\""), std::string::npos);
  EXPECT_EQ(played.find("fp_8_1_upper_lip_middle"), std::string::npos);
  const Outcome rigged =
      derm({"face", "retarget", take, shaped, "--rig", "-o", folder / "rigged.glb"});
  ASSERT_EQ(rigged.exit_code, 0) << rigged.err;
  EXPECT_NE(textOf(folder / "rigged.glb").find("fp_8_1_upper_lip_middle"), std::string::npos);
}

TEST(FaceCoefficients, MixWithOtherMotions) {
  const Folder folder;
  std::ofstream(folder / "take.csv") << kTake;
  const Outcome o =
      derm({"face", "retarget", folder / "take.csv", "cast:head-b", "--regions", "mouth,jaw",
            "--also", "cast:head-a:clip=blink:regions=eyes", "-o", folder / "mix.glb"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
}

TEST(FaceCoefficients, ErrorsNameLineAndColumn) {
  const Folder folder;
  std::ofstream(folder / "bad.csv") << "Timecode,JawOpen\n00:00:00:01,wide\n";
  const Outcome o =
      derm({"face", "retarget", folder / "bad.csv", "cast:head-a", "-o", folder / "x.glb"});
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_NE(o.err.find("bad.csv:2:13: column \"JawOpen\": \"wide\" is not a number"),
            std::string::npos)
      << o.err;
}

}  // namespace
}  // namespace derm::cli_test
