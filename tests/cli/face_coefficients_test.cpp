#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "cli/run_program.h"

/// derm face retarget with coefficients of ARKit's shapes.
namespace derm::cli_test::face_coefficients_test {
namespace {

constexpr const char* kTake =
    "Timecode,BlendShapeCount,EyeBlinkLeft,JawOpen,MouthSmileLeft,HeadYaw\n"
    "10:00:00:56.000,61,0,0,0,0\n10:00:00:58.000,61,1,0.2,0.1,0.2\n"
    "10:00:01:00.000,61,0.5,0.6,0.5,0.1\n10:00:01:02.000,61,0,0,0.9,0\n";

TEST(FaceCoefficients, PlayOnABareHeadAndComeBack) {
  const Folder folder;
  const std::string take = folder / "take.csv", out = folder / "a.glb", again = folder / "a.csv";
  std::ofstream(take) << kTake;
  const Outcome o = derm({"face", "retarget", take, "cast:head-a", "-o", out, "--coefficients",
                          again, "--tracks", folder / "points.csv"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("clip \"take\", 4 frames, 0.10 s, the head moves"), std::string::npos)
      << o.out;
  EXPECT_NE(contentOf(out).find("fp_8_1_upper_lip_middle"), std::string::npos);  // it got a rig
  EXPECT_TRUE(
      contentOf(again).starts_with("Timecode,BlendShapeCount,EyeBlinkLeft,EyeLookDownLeft"));
  // From points, coefficients are found.
  const Outcome found = derm({"face", "retarget", folder / "points.csv", "cast:head-a", "-o",
                              folder / "b.glb", "--coefficients", folder / "b.csv"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  EXPECT_TRUE(contentOf(folder / "b.csv").starts_with("Timecode,BlendShapeCount,EyeBlinkLeft"));
}

TEST(FaceCoefficients, WhatIsWrongIsSaidOnceAndWithItsPlace) {
  const Folder folder;
  const std::string take = folder / "take.csv", out = folder / "a.glb";
  const auto played = [&](const std::string& text) {
    std::ofstream(take) << text;
    return derm(
        {"face", "retarget", take, "cast:head-a", "-o", out, "--coefficients", folder / "a.csv"});
  };
  const auto expectError = [&](const std::string& text, const std::string& error) {
    const Outcome o = played(text);
    EXPECT_EQ(o.exit_code, 1) << text;
    EXPECT_NE(o.err.find(error), std::string::npos) << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  expectError(
      "time,jawOpen\n0,0\n1,40\n2,80\n",
      "take.csv:3: column \"jawOpen\": 40 is no coefficient: these go from 0 to 1; are they "
      "percent?");
  expectError("time,jawOpen\n0,0\n2,0\n1,1\n",
              "take.csv:4:1: column \"time\": is before the frame above it");
  expectError("time,jawOpen\n0,0\n1e9,0\n", "take.csv:3:1: column \"time\": is 1e+09 s after");
  // All that is left of it is a face at rest, which no file can hold as a motion.
  expectError("time,jawOpen\n0,0\n0,0.5\n", "take.csv: nothing moves");
  const Outcome late =
      derm({"face", "retarget", take, "cast:head-a", "-o", out, "--offset", "1e30"});
  EXPECT_EQ(late.exit_code, 2);
  EXPECT_NE(late.err.find("offset: must be within 24 h"), std::string::npos) << late.err;

  const Outcome warned = played("\"time\",\"jawOpen\"\n0,0\n1,1.25\n1,0\n2,1.25\n");
  EXPECT_EQ(warned.exit_code, 0) << warned.err;
  EXPECT_NE(warned.err.find("take.csv: \"jawOpen\" in line 3 is 1.25; values outside 0 to 1 are "
                            "clamped (2 times)"),
            std::string::npos)
      << warned.err;
  EXPECT_NE(warned.err.find("take.csv: comes no later than the frame before; left out (at 2)"),
            std::string::npos)
      << warned.err;
}

TEST(FaceCoefficients, PlayOnShapesUnlessTheRigIsAskedFor) {
  const Folder folder;
  const std::string take = folder / "take.csv", shaped = folder / "shaped.glb";
  std::ofstream(take) << kTake;
  ASSERT_EQ(derm({"face", "shapes", "cast:head-a", "-o", shaped}).exit_code, 0);
  const Outcome o = derm({"face", "retarget", take, shaped, "-o", folder / "played.glb"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const std::string played = contentOf(folder / "played.glb");
  EXPECT_NE(played.find("\"weights\""), std::string::npos);
  EXPECT_EQ(played.find("fp_8_1_upper_lip_middle"), std::string::npos);
  const Outcome rigged =
      derm({"face", "retarget", take, shaped, "--rig", "-o", folder / "rigged.glb"});
  ASSERT_EQ(rigged.exit_code, 0) << rigged.err;
  EXPECT_NE(contentOf(folder / "rigged.glb").find("fp_8_1_upper_lip_middle"), std::string::npos);
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
}  // namespace derm::cli_test::face_coefficients_test
