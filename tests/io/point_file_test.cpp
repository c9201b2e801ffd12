#include "derm/io/point_file.h"

#include <gtest/gtest.h>

namespace derm::point_file_test {
namespace {

Result<std::vector<NamedPosition>> parse(std::string_view text, Diagnostics* notes = nullptr) {
  Diagnostics unused;
  return parsePointFile({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "p.json",
                        notes != nullptr ? *notes : unused);
}

constexpr std::string_view kWhole =
    R"({"points": {"8.1": {"position": [0, 4.25, -9e-1], "note": ["mine"]}, "nose_tip": {"vertex": 1024}}})";

TEST(PointFile, ReadsPositionsAndVerticesUnderAnyLabel) {
  const Result<std::vector<NamedPosition>> points = parse(kWhole);
  ASSERT_TRUE(points) << points.error().text();
  const std::vector<NamedPosition> wanted = {{"8.1", {}, Vec3d(0, 4.25, -0.9)},
                                             {"nose_tip", 1024, Vec3d::Zero()}};
  EXPECT_EQ(*points, wanted);
}

TEST(PointFile, TheOuterKeyMayBeLeftOut) {
  const Result<std::vector<NamedPosition>> points =
      parse(R"({"points": {"vertex": 3}, "b": {"vertex": 4}})");
  ASSERT_TRUE(points) << points.error().text();
  ASSERT_EQ(points->size(), 2u);
  EXPECT_EQ((*points)[1].label, "points");  // also a label
  EXPECT_TRUE(parse("{}")->empty());
  EXPECT_TRUE(parse(R"({"points": {}})")->empty());
}

TEST(PointFile, SurvivesEveryTruncation) {
  for (std::size_t n = 0; n < kWhole.size(); ++n) {
    const Result<std::vector<NamedPosition>> cut = parse(kWhole.substr(0, n));
    ASSERT_FALSE(cut) << n;
    EXPECT_EQ(cut.error().where.file, "p.json");
  }
}

TEST(PointFile, ErrorsNameFileLabelAndIndex) {
  const auto errorOf = [](std::string_view text) {
    const Result<std::vector<NamedPosition>> read = parse(text);
    return read ? "no error" : read.error().text();
  };
  EXPECT_EQ(errorOf(R"({"8.1": {"position": [1, "2", 3]}})"),
            "p.json: point \"8.1\"[1]: the position is not a number");
  EXPECT_EQ(errorOf(R"({"8.1": {"position": [1, 2]}})"),
            "p.json: point \"8.1\": the position must be three numbers");
  EXPECT_EQ(errorOf(R"({"8.1": {"vertex": -1}})"),
            "p.json: point \"8.1\": the vertex must be a whole number from 0");
  EXPECT_EQ(errorOf(R"({"8.1": {}})"), "p.json: point \"8.1\": no position and no vertex");
  EXPECT_EQ(errorOf(R"({"8.1": {"vertex": 1, "position": [1, 2, 3]}})"),
            "p.json: point \"8.1\": both a position and a vertex; which one counts?");
  EXPECT_NE(errorOf(R"({"8.1": [1, 2, 3]})").find("point \"8.1\": must be {"), std::string::npos);
  EXPECT_NE(errorOf(R"({"": {"vertex": 1}})").find("a label is empty"), std::string::npos);
  EXPECT_NE(errorOf("[]").find("must be {"), std::string::npos);
  EXPECT_NE(errorOf(R"({"8.1": {"position": [1e400, 2, 3]}})").find("p.json"), std::string::npos);
  EXPECT_NE(errorOf(std::string(1000, '[')).find("nested"), std::string::npos);
}

TEST(PointFile, OfALabelGivenTwiceTheLastCounts) {
  Diagnostics notes;
  const Result<std::vector<NamedPosition>> points =
      parse(R"({"a": {"vertex": 1}, "a": {"vertex": 2}})", &notes);
  ASSERT_TRUE(points);
  EXPECT_EQ((*points)[0].vertex, 2u);
  EXPECT_EQ(notes.count("duplicate-key"), 1u);
}

TEST(PointFile, WhatIsWrittenReadsBackAsTheSameBits) {
  const std::vector<NamedPosition> points = {{"8.1", {}, Vec3d(0.1, -1e-17, 1e20)},
                                             {"a \"quoted\" \xC3\xA9", 7, Vec3d::Zero()}};
  const Result<std::vector<NamedPosition>> again = parse(pointFileText(points));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, points);
}

TEST(PicturePointFile, TwoNumbersInOneOfTwoForms) {
  const auto read = [](const std::string& text) {
    Diagnostics notes;
    return parsePicturePointFile({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
                                 "first.json", notes);
  };
  const auto points = read(R"({"points": {"8.1": [312.5, 240], "9.3": {"position": [1, 2]}}})");
  ASSERT_TRUE(points) << points.error().text();
  EXPECT_EQ((*points)[0], (NamedPosition{"8.1", {}, Vec3d(312.5, 240, 0)}));
  EXPECT_EQ((*points)[1], (NamedPosition{"9.3", {}, Vec3d(1, 2, 0)}));
  const auto again = read(picturePointFileText(*points));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *points);
  for (const char* text : {R"({"a": [1, 2, 3]})", R"({"a": [1]})", R"({"a": {"vertex": 3}})",
                           R"({"a": ["x", 2]})", R"([1, 2])", R"({"": [1, 2]})", R"({"a": 3})"})
    EXPECT_FALSE(read(text).ok()) << text;
}

TEST(PointFile, LabelsThatAreNoUtf8AreWritten) {
  const std::vector<NamedPosition> points{{"b\xE9ret", {}, Vec3d(1, 2, 3)}};
  const std::string text = pointFileText(points);
  Diagnostics notes;
  const Result<std::vector<NamedPosition>> again = parsePointFile(
      {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "p.json", notes);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->at(0).position, points[0].position);
}

TEST(PointFile, AnErrorIsOneLineWhateverTheLabel) {
  const std::string text = R"({"brow\nleft": {"vertex": -1}})";
  Diagnostics notes;
  const Result<std::vector<NamedPosition>> points = parsePointFile(
      {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "p.json", notes);
  ASSERT_FALSE(points);
  EXPECT_EQ(points.error().text().find('\n'), std::string::npos) << points.error().text();
}

}  // namespace
}  // namespace derm::point_file_test
