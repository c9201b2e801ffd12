#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

/// derm face shapes, derm face transfer.
namespace derm::cli_test {
namespace {

std::string textOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(FaceShapes, GiveAHeadArkitsNames) {
  const Folder folder;
  const std::string out = folder / "toon.glb";
  const Outcome o = derm({"face", "shapes", "cast:head-a", "-o", out});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("52 shapes"), std::string::npos) << o.out;
  EXPECT_NE(o.err.find("the eye cannot close"), std::string::npos) << o.err;
  const std::string bytes = textOf(out);
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
  const auto json = nlohmann::json::parse(textOf(report));
  EXPECT_EQ(json["points"].size(), 28u);
  EXPECT_TRUE(json["points"]["8.1"].contains("position"));
  EXPECT_TRUE(json["points"]["8.1"].contains("vertex"));
  EXPECT_TRUE(json["points"]["8.1"].contains("confidence"));
  EXPECT_EQ(json["method"], "watershed");
  EXPECT_GT(json["seconds"], 0);
  // The output is never an input.
  const std::string before = textOf(out);
  const Outcome again = derm({"face", "transfer", "cast:head-a", out, "-o", out});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("is an input"), std::string::npos) << again.err;
  EXPECT_EQ(textOf(out), before);
}

}  // namespace
}  // namespace derm::cli_test
