#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace derm::cli_test::repro_test {
namespace {

// Every exhibit's numbers are a test of their own, in room repro.
TEST(CliRepro, ADocumentIsReproduced) {
  const Folder folder;
  const Outcome o = derm({"repro", "skinning", "-o", folder / "out", "--no-pictures", "--json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const nlohmann::json answer = nlohmann::json::parse(o.out);
  EXPECT_EQ(answer["verdicts"]["missed"], 0);
  EXPECT_GT(answer["verdicts"]["equal"].get<int>(), 0);
  EXPECT_GE(answer["exhibits"].size(), 5u);
  EXPECT_EQ(nlohmann::json::parse(contentOf(folder / "out/report.json"))["exhibits"].size(),
            answer["exhibits"].size());
  const std::string page = contentOf(folder / "out/report.html");
  EXPECT_NE(page.find("004 · "), std::string::npos);
  EXPECT_EQ(page.find("data:image/png"), std::string::npos) << "no pictures were asked for";
}

TEST(CliRepro, OneExhibitHasItsNumbersAndSetup) {
  const Folder folder;
  const Outcome o =
      derm({"repro", "001 table 4.1", "-o", folder / "out", "--no-pictures", "--json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const nlohmann::json answer = nlohmann::json::parse(o.out);
  ASSERT_EQ(answer["exhibits"].size(), 1u);
  const nlohmann::json& numbers = answer["exhibits"][0]["numbers"];
  ASSERT_EQ(numbers.size(), 15u);
  EXPECT_EQ(numbers[4]["theirs"], 11);
  EXPECT_NEAR(numbers[4]["ours"].get<double>(), 11.237, 1e-3);
  EXPECT_EQ(numbers[4]["verdict"], "equal");
  EXPECT_EQ(numbers[6]["verdict"], "differs") << "a misprinted exponent";
  EXPECT_FALSE(numbers[6]["because"].get<std::string>().empty());
  EXPECT_NE(answer["exhibits"][0]["setup"].get<std::string>().find("type = \"volume\""),
            std::string::npos);
}

TEST(CliRepro, ABrokenNumberExitsWithOneAndTheReportIsWritten) {
  const Folder folder;
  const Outcome o =
      derm({"repro", "001 table 4.1", "-o", folder / "out", "--no-pictures", "--perturb", "0.01"});
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_NE(o.err.find("001 table 4.1: 90°, before is 11.34"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("missed"), std::string::npos) << o.err;
  const nlohmann::json report = nlohmann::json::parse(contentOf(folder / "out/report.json"));
  EXPECT_GT(report["verdicts"]["missed"].get<int>(), 5);
  EXPECT_NE(contentOf(folder / "out/report.html").find("missed"), std::string::npos);
}

TEST(CliRepro, AnUnknownNameGivesTheList) {
  const Folder folder;
  const Outcome o = derm({"repro", "volumme", "-o", folder / "out"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_NE(o.err.find("volume (001)"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("skinning (004)"), std::string::npos) << o.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "out")) << "nothing is written";
}

TEST(CliRepro, ListsWhatThereIs) {
  const Outcome o = derm({"repro", "--list"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("001 table 4.1"), std::string::npos);
  EXPECT_NE(o.out.find("003 fig. 7"), std::string::npos);
}

TEST(CliRepro, WantsAFolderThatCanBeWritten) {
  const Folder folder;
  EXPECT_EQ(derm({"repro", "skinning"}).exit_code, 2);
  write(folder / "file", "x");
  const Outcome o = derm({"repro", "004 fig. 2", "-o", folder / "file", "--no-pictures"});
  EXPECT_EQ(o.exit_code, 3) << o.err;
  EXPECT_EQ(contentOf(folder / "file"), "x");
}

}  // namespace
}  // namespace derm::cli_test::repro_test
