#include "derm/io/point_tracks_file.h"

#include <gtest/gtest.h>

namespace derm::point_tracks_file_test {
namespace {

Result<PointTracks> parseJsonText(std::string_view text) {
  Diagnostics notes;
  return parsePointTracksJson({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
                              "t.json", notes);
}

std::string csvError(std::string_view text) {
  const Result<PointTracks> tracks = parsePointTracksCsv(text, "t.csv");
  return tracks ? "no error" : tracks.error().text();
}

std::string jsonError(std::string_view text) {
  const Result<PointTracks> tracks = parseJsonText(text);
  return tracks ? "no error" : tracks.error().text();
}

void expectSame(const PointTracks& a, const PointTracks& b) {
  EXPECT_EQ(a.space, b.space);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.neutral, b.neutral);
  EXPECT_EQ(a.times_s, b.times_s);
  EXPECT_EQ(a.positions, b.positions);
  EXPECT_EQ(a.confidence, b.confidence);
  EXPECT_EQ(a.head, b.head);
}

PointTracks twoPoints() {
  PointTracks tracks;
  tracks.labels = {"8.1", "brow left"};
  tracks.neutral = {Vec3d(0, 0.1, 1.0 / 3), Vec3d(1, 2, 3)};
  tracks.times_s = {0, 1.0 / 30};
  tracks.positions = {Vec3d(0, 0.1, 0.3), Vec3d(1, 2, -1e-17), Vec3d(5, 6, 7), Vec3d(1, 2, 3)};
  tracks.confidence = {1, 0.1f, 0, 1};
  tracks.head.resize(2);
  tracks.head[1] = {Vec3f(0.1f, 0, 0), Quatf(0.8f, 0, 0.6f, 0)};
  return tracks;
}

constexpr std::string_view kTable =
    "time,8.1.x,8.1.y,8.1.z,8.1.confidence,a.x,a.y,a.z\n"
    "neutral,0,1,2,,3,4,5\n"
    "0,0,1,2.5,0.5,3,4,5\n"
    "0.5,0,1,2,1,3,4,6\n";

TEST(PointTracksFile, ReadsATable) {
  const Result<PointTracks> tracks = parsePointTracksCsv(kTable, "t.csv");
  ASSERT_TRUE(tracks) << tracks.error().text();
  EXPECT_EQ(tracks->space, TrackSpace::Model);
  EXPECT_EQ(tracks->labels, (std::vector<std::string>{"8.1", "a"}));
  EXPECT_EQ(tracks->neutral[0], Vec3d(0, 1, 2));
  EXPECT_EQ(tracks->times_s, (std::vector<double>{0, 0.5}));
  EXPECT_EQ(tracks->frame(0)[0], Vec3d(0, 1, 2.5));
  EXPECT_EQ(tracks->frame(1)[1], Vec3d(3, 4, 6));
  EXPECT_EQ(tracks->confidence, (std::vector<float>{0.5f, 1, 1, 1}));
  EXPECT_TRUE(tracks->head.empty());
}

TEST(PointTracksFile, ATableWithoutDepthIsOfAPictureAndItsFirstFrameNeutral) {
  const Result<PointTracks> tracks = parsePointTracksCsv(
      "\xEF\xBB\xBFTime, \"b c.x\" ,b c.y\r\n0,1e2,-3\r\n\r\n1,2,+4\r\n", "t.csv");
  ASSERT_TRUE(tracks) << tracks.error().text();
  EXPECT_EQ(tracks->space, TrackSpace::Picture);
  EXPECT_EQ(tracks->labels, std::vector<std::string>{"b c"});
  EXPECT_EQ(tracks->neutral[0], Vec3d(100, -3, 0));
  EXPECT_EQ(tracks->frame(1)[0], Vec3d(2, 4, 0));
  EXPECT_TRUE(tracks->confidence.empty());
}

TEST(PointTracksFile, APointWithoutCoordinatesWasNotSeenAndStaysWhereItWas) {
  const Result<PointTracks> tracks =
      parsePointTracksCsv("time,a.x,a.y,b.x,b.y\n0,1,2,3,4\n1,,,5,6\n2,,,7,8\n", "t.csv");
  ASSERT_TRUE(tracks) << tracks.error().text();
  EXPECT_EQ(tracks->frame(2)[0], Vec3d(1, 2, 0));
  EXPECT_EQ(tracks->frame(2)[1], Vec3d(7, 8, 0));
  EXPECT_EQ(tracks->confidence, (std::vector<float>{1, 1, 0, 1, 0, 1}));
  EXPECT_EQ(csvError("time,a.x,a.y\n0,,\n"),
            "t.csv:2:3: a.x: not seen in the first row, which is the neutral face");
}

TEST(PointTracksFile, WhatIsWrittenReadsBackAsTheSameBits) {
  PointTracks tracks = twoPoints();
  for (int picture = 0; picture < 2; ++picture) {
    const Result<std::string> table = pointTracksCsv(tracks);
    ASSERT_TRUE(table) << table.error().text();
    const Result<PointTracks> from_table = parsePointTracksCsv(*table, "t.csv");
    ASSERT_TRUE(from_table) << from_table.error().text();
    expectSame(*from_table, tracks);
    const Result<PointTracks> from_json = parseJsonText(pointTracksJson(tracks));
    ASSERT_TRUE(from_json) << from_json.error().text();
    expectSame(*from_json, tracks);

    tracks.space = TrackSpace::Picture;
    for (Vec3d& p : tracks.neutral) p.z() = 0;
    for (Vec3d& p : tracks.positions) p.z() = 0;
    tracks.confidence.clear();
    tracks.head.clear();
  }
}

TEST(PointTracksFile, LabelsThatATableCannotHoldAreSaid) {
  for (const std::string label : {"head", "", "a,b", "a\"b", " a", "a\nb"}) {
    PointTracks tracks = twoPoints();
    tracks.labels[1] = label;
    const Result<std::string> table = pointTracksCsv(tracks);
    ASSERT_FALSE(table) << label;
    EXPECT_EQ(table.error().where.index, 1u);
    EXPECT_EQ(table.error().text().find('\n'), std::string::npos);
  }
}

TEST(PointTracksFile, ErrorsOfATableNameLineAndColumn) {
  EXPECT_EQ(csvError("time;8.1.x;8.1.y\n0;1;2\n"),
            "t.csv:1:5: columns are separated by \";\"; they must be by commas");
  EXPECT_EQ(csvError("time\t8.1.x\t8.1.y\n"),
            "t.csv:1:5: columns are separated by tabs; they must be by commas");
  EXPECT_EQ(csvError("frame,8.1.x,8.1.y\n"),
            "t.csv:1:1: the first column is \"frame\"; wanted \"time\"");
  EXPECT_EQ(csvError("time,8.1.x,8.1.y,8.1.z,8.2.x,8.2.y\n"),
            "t.csv:1:30: column \"8.2.z\" is missing");
  EXPECT_EQ(csvError("time,8.1.y\n"), "t.csv:1:6: column \"8.1.x\" is missing");
  EXPECT_EQ(csvError("time,8.1.x,8.1.y,8.1.x\n"), "t.csv:1:18: \"8.1.x\" is there twice");
  EXPECT_EQ(csvError("time,8.1.x,8.1.y,head.x\n"), "t.csv:1:18: column \"head.y\" is missing");
  EXPECT_NE(csvError("time,8.1.x,8.1.y,blink\n").find("t.csv:1:18: \"blink\" is no column"),
            std::string::npos);
  EXPECT_EQ(csvError("time,a.x,a.y\n0,1,2\n1,2\n"),
            "t.csv:3:3: a.x: 2 values, but the first line names 3 columns");
  EXPECT_EQ(csvError("time,a.x,a.y\n0,1,2\n1,2,3,4\n"),
            "t.csv:3:5: a.y: 4 values, but the first line names 3 columns");
  EXPECT_EQ(csvError("time,a.x,a.y\n0,1,two\n"), "t.csv:2:5: a.y: \"two\" is not a number");
  EXPECT_EQ(csvError("time,a.x,a.y\n0,1,\n"), "t.csv:2:5: a.y: empty; wanted a number");
  EXPECT_EQ(csvError("time,a.x,a.y\n0,1,nan\n"), "t.csv:2:5: a.y: \"nan\" is not a finite number");
  EXPECT_EQ(csvError("time,a.x,a.y\n0,1,1e31\n"), "t.csv:2:5: a.y: \"1e31\" is too large");
  EXPECT_EQ(csvError("time,a.x,a.y\n0,1,2\n0,1,2\n"),
            "t.csv:3:1: time: not later than the row before");
  EXPECT_EQ(csvError("time,a.x,a.y\n0,1,2\nneutral,1,2\n"),
            "t.csv:3:1: time: the neutral face must be the first row");
  EXPECT_EQ(csvError("time,a.x,a.y,a.confidence\n0,1,2,2\n"),
            "t.csv:2:7: a.confidence: a confidence is from 0 to 1");
  EXPECT_EQ(csvError("time,a.x,a.y\n"), "t.csv:1: no frames");
  EXPECT_EQ(csvError(""), "t.csv: nothing in it");
  EXPECT_NE(csvError("time\n0\n").find("no points"), std::string::npos);
}

TEST(PointTracksFile, ErrorsOfADocumentNameTheFrame) {
  const std::string start =
      R"({"labels": ["a", "b"], "frames": [{"time": 0, "positions": [[1,2,3],[4,5,6]]})";
  EXPECT_EQ(jsonError(start + "]}"), "no error");
  EXPECT_EQ(jsonError(start + R"(, {"time": 1, "positions": [[1,2,3],[4,5]]}]})"),
            "t.json: frames[1]: the position of \"b\" must be three numbers");
  EXPECT_EQ(jsonError(start + R"(, {"time": 1, "positions": [[1,2,3]]}]})"),
            "t.json: frames[1]: must have a position for each of the 2 labels");
  EXPECT_EQ(jsonError(start + R"(, {"time": 0, "positions": [[1,2,3],[4,5,6]]}]})"),
            "t.json: frames[1]: not later than the frame before");
  EXPECT_EQ(jsonError(start + R"(, {"positions": []}]})"), "t.json: frames[1]: no time");
  EXPECT_EQ(jsonError(start + R"(], "neutral": [[0,0,0]]})"),
            "t.json: neutral: must have a position for each of the 2 labels");
  EXPECT_EQ(jsonError(R"({"labels": [], "frames": []})"), "t.json: frames: no frames");
  EXPECT_EQ(jsonError(R"({"space": "room", "labels": [], "frames": []})"),
            "t.json: space: must be \"model\" or \"picture\"");
  EXPECT_NE(jsonError("[]").find("must be {"), std::string::npos);
  EXPECT_NE(
      jsonError(
          R"({"labels": ["a", "a"], "frames": [{"time": 0, "positions": [[1,2,3],[4,5,6]]}]})")
          .find("there twice"),
      std::string::npos);
}

TEST(PointTracksFile, SurvivesEveryTruncation) {
  for (std::size_t n = 0; n < kTable.size(); ++n) {
    const std::string error = csvError(kTable.substr(0, n));
    EXPECT_EQ(error.find('\n'), std::string::npos) << n;
    // Without a frame, or within a line, there is something to say.
    if (n < kTable.find("\n0,")) {
      EXPECT_NE(error, "no error") << n;
    }
  }
  const std::string json = pointTracksJson(twoPoints());
  for (std::size_t n = 0; n + 1 < json.size(); ++n)
    EXPECT_NE(jsonError(std::string_view(json).substr(0, n)), "no error") << n;
}

TEST(PointTracksFile, OtherEndingsAreSaid) {
  Diagnostics notes;
  const Result<PointTracks> tracks = loadPointTracks("a.txt", notes);
  ASSERT_FALSE(tracks);
  EXPECT_EQ(tracks.error().code, ErrorCode::Unsupported);
  EXPECT_FALSE(savePointTracks("a.txt", twoPoints()));
}

}  // namespace
}  // namespace derm::point_tracks_file_test
