#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace derm::cli_test::volume_verb_test {
namespace {

TEST(CliVolume, JsonHasTheKeysMachinesRelyOnAndTheVolumeIsHeld) {
  const Outcome o = derm({"volume", "cast:arm", "--fps", "10", "--json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const nlohmann::json study = nlohmann::json::parse(o.out);
  EXPECT_GT(study["rest_m3"].get<double>(), 0);
  ASSERT_FALSE(study["frames"].empty());
  EXPECT_LE(study["max_relative_error_after"].get<double>(), 1e-5);
  EXPECT_GT(study["max_relative_loss_before"].get<double>(), 1e-4);
  for (const nlohmann::json& frame : study["frames"]) {
    EXPECT_TRUE(frame.contains("time_s") && frame.contains("before_m3"));
    double sum = 0;
    for (const nlohmann::json& region : frame["regions"]) {
      EXPECT_TRUE(region.contains("name") && region.contains("rest_m3"));
      EXPECT_TRUE(region.contains("before_m3"));
      EXPECT_NEAR(region["after_m3"].get<double>() / region["rest_m3"].get<double>(), 1, 1e-5);
      sum += region["after_m3"].get<double>();
    }
    EXPECT_NEAR(sum / frame["after_m3"].get<double>(), 1, 1e-9) << "regions add up";
    EXPECT_GT(frame["after"]["min_stretch"].get<double>(), 0);
  }
}

/// Its joints could not be placed better: there is nothing to advise.
TEST(CliVolume, APerfectCylinderIsNotBlamed) {
  const Outcome o = derm({"volume", "cast:cylinder"});
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_EQ(o.err, "");
  EXPECT_NE(o.out.find("worst change before"), std::string::npos) << o.out;
}

TEST(CliVolume, CsvHasALinePerFrameAndAsManyCellsAsItsHeader) {
  const Outcome o = derm({"volume", "cast:cylinder", "--fps", "4", "--csv"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  std::istringstream text(o.out);
  std::string header, line;
  std::getline(text, header);
  int lines = 0;
  while (std::getline(text, line)) {
    ++lines;
    EXPECT_EQ(std::count(line.begin(), line.end(), ','),
              std::count(header.begin(), header.end(), ','));
  }
  EXPECT_GE(lines, 2);
}

TEST(CliVolume, RecipesPlotsAndFilesWork) {
  const Folder folder;
  const std::string recipe = folder / "arm.toml";
  write(recipe,
        "character = \"cast:arm\"\nfps = 5\n[skinning]\nmethod = \"linear\"\n[[layer]]\n"
        "type = \"volume\"\nmethod = \"normal\"\nregions = \"whole\"\n");
  const Outcome o =
      derm({"volume", recipe, "--json", "--plot", folder / "arm.svg", "-o", folder / "arm.json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(nlohmann::json::parse(o.out)["outputs"][0], folder / "arm.json");
  const nlohmann::json study = nlohmann::json::parse(contentOf(folder / "arm.json"));
  EXPECT_EQ(study["skinning"], "linear");
  EXPECT_EQ(study["frames"][0]["regions"].size(), 1u);
  EXPECT_LE(study["max_relative_error_after"].get<double>(), 1e-5);
  EXPECT_NE(contentOf(folder / "arm.svg").find("<svg"), std::string::npos);
}

TEST(CliVolume, ComparesEveryMethodOnTheSameClip) {
  const Outcome o = derm({"volume", "cast:cylinder", "--fps", "3", "--compare", "--json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const nlohmann::json table = nlohmann::json::parse(o.out);
  double linear = 0, section = 1;
  for (const nlohmann::json& row : table["methods"]) {
    if (row["name"] == "linear") linear = row["worst_region_percent"];
    if (row["name"] == "centre + section") section = row["worst_region_percent"];
  }
  EXPECT_GT(linear, 1);
  EXPECT_LT(section, 1e-3);
  EXPECT_GE(table["methods"].size(), 10u);
  EXPECT_EQ(derm({"volume", "cast:cylinder", "--fps", "3", "--compare"}).exit_code, 0);
}

TEST(CliVolume, MistakesHaveTheirExitCodes) {
  const Folder folder;
  EXPECT_EQ(derm({"volume"}).exit_code, 2);
  EXPECT_EQ(derm({"volume", "cast:arm", "--clip", "bned"}).exit_code, 2);
  EXPECT_EQ(derm({"volume", "cast:arm", "--csv", "--json"}).exit_code, 2);
  EXPECT_EQ(derm({"volume", "cast:arm", "--fps", "0"}).exit_code, 2);
  EXPECT_EQ(derm({"volume", folder / "nowhere.glb"}).exit_code, 1);
  EXPECT_EQ(
      derm({"volume", "cast:cylinder", "--fps", "2", "-o", folder / "no/such/x.csv"}).exit_code, 3);
  const std::string recipe = folder / "bad.toml";
  write(recipe, "character = \"cast:arm\"\n[[layer]]\ntype = \"volume\"\nmax_change = 7\n");
  const Outcome bad = derm({"volume", recipe});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.err.find("bad.toml:4"), std::string::npos) << bad.err;
}

}  // namespace
}  // namespace derm::cli_test::volume_verb_test
