#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

/// derm face shapes, derm face transfer.
namespace derm::cli_test::face_shapes_test {
namespace {

TEST(FaceShapes, GiveAHeadArkitsNames) {
  const Folder folder;
  const std::string out = folder / "toon.glb";
  const Outcome o = derm({"face", "shapes", "cast:head-a", "-o", out});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("52 shapes"), std::string::npos) << o.out;
  EXPECT_NE(o.err.find("the eye cannot close"), std::string::npos) << o.err;
  const std::string bytes = contentOf(out);
  EXPECT_NE(bytes.find("targetNames"), std::string::npos);
  EXPECT_NE(bytes.find("mouthSmileLeft"), std::string::npos);
}

TEST(FaceShapes, OfADonorWithoutAnyAreAnError) {
  const Folder folder;
  const Outcome o = derm({"face", "shapes", "cast:head-b", "--from", "cast:head-a", "--upright",
                          "-o", folder / "x.glb"});
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_NE(o.err.find("has no shapes to give"), std::string::npos) << o.err;
}

TEST(FaceTransfer, CarriesARigAndReports) {
  const Folder folder;
  const std::string out = folder / "b.glb", report = folder / "b.json";
  const Outcome o = derm({"face", "transfer", "cast:head-a", "cast:head-b", "--method", "watershed",
                          "-o", out, "--report", report});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("28 control joints"), std::string::npos) << o.out;
  const auto json = nlohmann::json::parse(contentOf(report));
  EXPECT_EQ(json["points"].size(), 28u);
  EXPECT_TRUE(json["points"]["8.1"].contains("position"));
  EXPECT_TRUE(json["points"]["8.1"].contains("vertex"));
  EXPECT_TRUE(json["points"]["8.1"].contains("confidence"));
  EXPECT_EQ(json["method"], "watershed");
  EXPECT_GT(json["seconds"], 0);
  // The output is never an input.
  const std::string before = contentOf(out);
  const Outcome again = derm({"face", "transfer", "cast:head-a", out, "-o", out});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("is an input"), std::string::npos) << again.err;
  EXPECT_EQ(contentOf(out), before);
}

TEST(FaceTransfer, ASourceWithoutAFaceIsRefused) {
  const Folder folder;
  const Outcome o =
      derm({"face", "transfer", "cast:cylinder", "cast:head-b", "-o", folder / "x.glb"});
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_NE(o.err.find("cast:cylinder"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("cannot find a face"), std::string::npos) << o.err;
  EXPECT_EQ(std::filesystem::exists(folder / "x.glb"), false);
}

}  // namespace
}  // namespace derm::cli_test::face_shapes_test
