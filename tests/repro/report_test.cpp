#include "derm/repro/report.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace derm::report_test {
namespace {

namespace fs = std::filesystem;

TEST(ReproVerdict, FollowsTheDigitsThatArePrinted) {
  ReproNumber n{.name = "n", .theirs = 0.34, .ours = 0.336, .equal_within = 0.005};
  EXPECT_EQ(verdictOf(n), ReproVerdict::Equal);
  n.ours = 0.3;
  EXPECT_EQ(verdictOf(n), ReproVerdict::Missed) << "a difference needs a reason";
  n.because = "another machine";
  EXPECT_EQ(verdictOf(n), ReproVerdict::Differs);
  n.better = ReproSense::LessIsBetter;
  EXPECT_EQ(verdictOf(n), ReproVerdict::Better);
  n.better = ReproSense::MoreIsBetter;
  EXPECT_EQ(verdictOf(n), ReproVerdict::Differs);
}

TEST(ReproVerdict, IsMissedOutOfRangeWhateverTheReason) {
  ReproNumber n{.name = "n", .theirs = 1, .ours = 1, .low = 2, .high = 3, .because = "why not"};
  EXPECT_EQ(verdictOf(n), ReproVerdict::Missed);
  n.ours = 2.5;
  EXPECT_EQ(verdictOf(n), ReproVerdict::Differs);
  n.theirs = {};
  EXPECT_EQ(verdictOf(n), ReproVerdict::Holds);
  n.low = -std::numeric_limits<double>::infinity();
  n.high = std::numeric_limits<double>::infinity();
  n.ours = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(verdictOf(n), ReproVerdict::Missed) << "not a number";
}

// A document of three exhibits: right, broken, and one that cannot be set up.
Result<void> right(ReproResult& r, Diagnostics&) {
  r.numbers.push_back({.name = "a <b>", .unit = "%", .theirs = 1, .ours = 1.0});
  r.pictures.push_back(
      {.caption = "curve", .plot = PlotDesc{.series = {{.name = "s", .x = {0, 1}, .y = {0, 1}}}}});
  return {};
}
Result<void> broken(ReproResult& r, Diagnostics&) {
  r.numbers.push_back({.name = "off", .ours = 5, .low = 0, .high = 1});
  return {};
}
Result<void> failing(ReproResult&, Diagnostics&) {
  return Error{ErrorCode::BadData, "cannot be set up", {}};
}
Result<void> cannotDraw(ReproResult&, Diagnostics&) {
  return Error{ErrorCode::Unsupported, "no pictures can be drawn here", {}};
}
constexpr ReproExhibit kRight[] = {{"fig. 1", "t", "setup & recipe", "remark", right, nullptr},
                                   {"fig. 2", "t", "s", "", right, cannotDraw}};
constexpr ReproExhibit kBroken[] = {{"table 1", "t", "s", "", broken, nullptr}};
constexpr ReproExhibit kFailing[] = {{"fig. 9", "t", "s", "", failing, nullptr}};
const ReproDocument kDocuments[] = {{"900", "good", "Good", kRight},
                                    {"901", "bad", "Bad", kBroken}};
const ReproDocument kFailingDocuments[] = {{"902", "worse", "Worse", kFailing}};

ReproReport reportOn(const std::string& what, Diagnostics& notes) {
  Result<ReproReport> report = reproduce(kDocuments, {.what = what}, notes);
  EXPECT_TRUE(report.ok()) << report.error().text();
  return report.ok() ? *std::move(report) : ReproReport{};
}

TEST(Reproduce, RunsWhatIsAskedForByNameNumberOrExhibit) {
  Diagnostics notes;
  EXPECT_EQ(reportOn("all", notes).entries.size(), 3u);
  EXPECT_EQ(reportOn("good", notes).entries.size(), 2u);
  EXPECT_EQ(reportOn("901", notes).entries.size(), 1u);
  EXPECT_EQ(reportOn("900 fig. 2", notes).entries.size(), 1u);
  EXPECT_EQ(reportOn("900-fig.-2", notes).entries.at(0).id(), "900 fig. 2");
}

TEST(Reproduce, AnUnknownNameListsTheDocuments) {
  Diagnostics notes;
  const Result<ReproReport> report = reproduce(kDocuments, {.what = "goodd"}, notes);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::BadArgument);
  EXPECT_NE(report.error().message.find("good (900)"), std::string::npos);
  EXPECT_NE(report.error().message.find("did you mean"), std::string::npos);
}

TEST(Reproduce, ABrokenNumberIsAMiss) {
  Diagnostics notes;
  const ReproReport report = reportOn("all", notes);
  EXPECT_EQ(report.count(ReproVerdict::Equal), 2u);
  EXPECT_EQ(report.count(ReproVerdict::Missed), 1u);
  ASSERT_EQ(report.misses().size(), 1u);
  EXPECT_EQ(report.misses()[0], "901 table 1: off is 5, not in [0, 1]");
}

TEST(Reproduce, WithoutARendererThereAreNumbersAndANote) {
  Diagnostics notes;
  EXPECT_EQ(reportOn("good", notes).count(ReproVerdict::Equal), 2u);
  EXPECT_EQ(notes.count("repro-no-pictures"), 1u);
}

TEST(Reproduce, AnErrorNamesTheExhibit) {
  Diagnostics notes;
  const Result<ReproReport> report = reproduce(kFailingDocuments, {}, notes);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().text().find("902 fig. 9"), std::string::npos);
}

TEST(ReproReport, HasEveryNumberAsJsonAndAPageOfItsOwn) {
  Diagnostics notes;
  const ReproReport report = reportOn("all", notes);
  const nlohmann::json json = nlohmann::json::parse(reproJson(report));
  EXPECT_EQ(json["verdicts"]["missed"], 1);
  ASSERT_EQ(json["exhibits"].size(), 3u);
  EXPECT_EQ(json["exhibits"][0]["id"], "900 fig. 1");
  EXPECT_EQ(json["exhibits"][0]["numbers"][0]["theirs"], 1);
  EXPECT_EQ(json["exhibits"][2]["numbers"][0]["verdict"], "missed");
  EXPECT_TRUE(json["exhibits"][2]["numbers"][0]["theirs"].is_null());
  const std::string html = reproHtml(report).value();
  EXPECT_NE(html.find("a &lt;b&gt;"), std::string::npos);
  EXPECT_NE(html.find("<svg"), std::string::npos);
  EXPECT_NE(html.find("setup &amp; recipe"), std::string::npos);
  EXPECT_EQ(html.find("http://www.example"), std::string::npos);
  EXPECT_EQ(html.find("src=\"http"), std::string::npos) << "nothing is fetched";
}

TEST(ReproReport, IsWrittenWholeOrNotAtAll) {
  Diagnostics notes;
  const ReproReport report = reportOn("good", notes);
  const fs::path folder = fs::temp_directory_path() / ("repro_test" + std::to_string(getpid()));
  fs::remove_all(folder);
  ASSERT_TRUE(saveReproReport(report, folder / "made").ok());
  EXPECT_TRUE(fs::exists(folder / "made" / "report.html"));
  EXPECT_TRUE(fs::exists(folder / "made" / "report.json"));
  // The numbers cannot be written: the page is not either.
  fs::create_directories(folder / "bad" / "report.json");
  EXPECT_FALSE(saveReproReport(report, folder / "bad").ok());
  EXPECT_FALSE(fs::exists(folder / "bad" / "report.html"));
  std::size_t left = 0;
  for ([[maybe_unused]] const auto& e : fs::directory_iterator(folder / "bad")) ++left;
  EXPECT_EQ(left, 1u) << "no temporaries";
  std::ofstream(folder / "file") << "x";
  const Result<void> in_file = saveReproReport(report, folder / "file");
  ASSERT_FALSE(in_file.ok());
  EXPECT_EQ(in_file.error().code, ErrorCode::CannotWrite);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace derm::report_test
