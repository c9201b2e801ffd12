#include "derm/io/shape_tracks_file.h"

#include <gtest/gtest.h>

#include "support/compare.h"

namespace derm::shape_tracks_file_test {
namespace {

Result<ShapeTracks> parse(std::string_view text, Diagnostics& notes) {
  return parseShapeTracks({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
                          "take.csv", notes);
}
Result<ShapeTracks> parse(std::string_view text) {
  Diagnostics unused;
  return parse(text, unused);
}
std::string errorOf(std::string_view text) {
  const Result<ShapeTracks> read = parse(text);
  return read ? "no error" : read.error().text();
}

constexpr std::string_view kTake =
    "Timecode,BlendShapeCount,EyeBlinkLeft,JawOpen,HeadYaw,HeadPitch,HeadRoll,LeftEyeYaw\n"
    "13:13:04:56.652,61,0.25,0,0,0,0,0.5\n"
    "13:13:04:58.651,61,0.5,0.125,0.1,0.2,-0.3,0.5\n"
    "13:13:05:00.651,61,1,0.5,0,0,0,0\n"
    "13:13:05:02.650,61,0,1,0,0,0,0\n";

TEST(ShapeTracksFile, ReadsLiveLinkFace) {
  Diagnostics notes;
  const Result<ShapeTracks> tracks = parse(kTake, notes);
  ASSERT_TRUE(tracks) << tracks.error().text();
  EXPECT_EQ(tracks->names, (std::vector<std::string>{"eyeBlinkLeft", "jawOpen"}));
  EXPECT_EQ(tracks->values, (std::vector<float>{0.25f, 0, 0.5f, 0.125f, 1, 0.5f, 0, 1}));
  ASSERT_EQ(tracks->frames(), 4u);
  EXPECT_EQ(tracks->times_s[0], 0);
  // 60 frames in a second, two frames a step.
  for (std::size_t f = 1; f < 4; ++f) EXPECT_NEAR(tracks->times_s[f], double(f) / 30, 1e-4);
  EXPECT_TRUE(notes.empty()) << notes.notes()[0].text();
}

TEST(ShapeTracksFile, AHeadTurnsToTheSubjectsRightAndDown) {
  const ShapeTracks tracks = *parse(kTake);
  ASSERT_EQ(tracks.head.size(), 4u);
  EXPECT_LT(tracks.head[0].angularDistance(Quatd::Identity()), 1e-9);
  const Vec3d forward = tracks.head[1] * Vec3d::UnitZ();
  EXPECT_LT(forward.x(), -0.05);  // +x is the subject's left
  EXPECT_LT(forward.y(), -0.1);
  // A head that never turns is none.
  const Result<ShapeTracks> still = parse("time,jawOpen,HeadYaw\n0,1,0\n1,0,0\n");
  ASSERT_TRUE(still);
  EXPECT_TRUE(still->head.empty());
}

TEST(ShapeTracksFile, TellsHowManyFramesASecondHas) {
  for (const int rate : {24, 25, 30, 50, 60, 120}) {
    std::string text = "Timecode,BlendShapeCount,JawOpen\n";
    for (int f = rate - 3; f < rate + 3; ++f) {
      const int frame = f % rate;
      text += std::string("00:00:0") + (f < rate ? "1" : "2") + ":" + (frame < 10 ? "0" : "") +
              std::to_string(frame) + ".500,1,0\n";
    }
    Diagnostics notes;
    const Result<ShapeTracks> tracks = parse(text, notes);
    ASSERT_TRUE(tracks) << tracks.error().text();
    for (std::size_t f = 0; f < 6; ++f)
      EXPECT_NEAR(tracks->times_s[f], double(f) / rate, 1e-9) << rate;
    EXPECT_EQ(notes.count("timecode-rate"), 0u);
  }
  Diagnostics notes;
  ASSERT_TRUE(parse("Timecode,JawOpen\n0:0:0:1,0\n0:0:0:2,0\n", notes));
  EXPECT_EQ(notes.count("timecode-rate"), 1u);
}

TEST(ShapeTracksFile, SkipsRepeatsAndMidnightAreDealtWith) {
  Diagnostics notes;
  const Result<ShapeTracks> tracks = parse(
      "Timecode,BlendShapeCount,JawOpen\n23:59:59:56,1,0\n23:59:59:58,1,.1\n23:59:59:58,1,.2\n"
      "00:00:00:00,1,.3\n00:00:00:02,0,\n00:00:00:04,1,.4\n",
      notes);
  ASSERT_TRUE(tracks) << tracks.error().text();
  EXPECT_EQ(tracks->values, (std::vector<float>{0, .1f, .3f, .4f}));
  EXPECT_NEAR(tracks->times_s.back(), 8.0 / 60, 1e-9);
  EXPECT_EQ(notes.count("times-repeat"), 1u);
  EXPECT_EQ(notes.count("times-skip"), 1u);
  EXPECT_EQ(notes.count("frames-without-face"), 1u);
}

TEST(ShapeTracksFile, ReadsPlainCsv) {
  const Result<ShapeTracks> tracks =
      parse("\xEF\xBB\xBFtime,jawOpen,\"Smile, wide\"\r\n1.5,0,.25\r\n2, 1 ,0.5\r\n\r\n");
  ASSERT_TRUE(tracks) << tracks.error().text();
  EXPECT_EQ(tracks->names, (std::vector<std::string>{"jawOpen", "Smile, wide"}));
  EXPECT_EQ(tracks->times_s, (std::vector<double>{0, 0.5}));
  EXPECT_EQ(tracks->values, (std::vector<float>{0, .25f, 1, .5f}));
}

TEST(ShapeTracksFile, ReadsJsonOfSeveralMakers) {
  const std::vector<float> wanted = {0, 1, .5f, 0};
  for (const std::string_view text :
       {R"({"fps": 2, "names": ["jawOpen", "b"], "frames": [[0, 1], [0.5, 0]]})",
        R"({"exportFps": 2, "facsNames": ["jawOpen", "b"], "weightMat": [[0, 1], [0.5, 0]]})",
        R"([{"time": 1, "blendshapes": {"jawOpen": 0, "b": 1}},
            {"time": 1.5, "blendshapes": {"b": 0, "jawOpen": 0.5}}])",
        R"({"frames": [{"timestamp_ms": 0, "blendshapes": [{"categoryName": "_neutral",
            "score": 1}, {"categoryName": "jawOpen", "score": 0}, {"categoryName": "b",
            "score": 1}]}, {"timestamp_ms": 500, "blendshapes": [{"name": "jawOpen",
            "value": 0.5}]}]})"}) {
    const Result<ShapeTracks> tracks = parse(text);
    ASSERT_TRUE(tracks) << tracks.error().text();
    const bool sorted = tracks->names[0] == "b";  // keys of an object have no order
    EXPECT_EQ(tracks->times_s, (std::vector<double>{0, 0.5}));
    EXPECT_EQ(tracks->values, sorted ? (std::vector<float>{1, 0, 0, .5f}) : wanted) << text;
  }
}

TEST(ShapeTracksFile, ErrorsNameLineAndColumn) {
  EXPECT_EQ(errorOf("Timecode,JawOpen\n00:00:00:01,0.5\n00:00:00:02,0,5\n"),
            "take.csv:3:15: 3 columns, but the header has 2");
  EXPECT_EQ(errorOf("time,jawOpen,mouthClose\n0,0.5\n"),
            "take.csv:2:6: column \"mouthClose\": missing: 2 of 3 columns");
  EXPECT_EQ(errorOf("time;jawOpen\n0;0.5\n"),
            "take.csv:1:5: columns are separated by \";\"; they must be by commas");
  EXPECT_EQ(errorOf("time,jawOpen\n0;0.5\n"),
            "take.csv:2:2: 1 of 2 columns: the separator must be a comma, as in the header");
  EXPECT_EQ(errorOf("time,jawOpen\n0,0.5\n1,half\n"),
            "take.csv:3:3: column \"jawOpen\": \"half\" is not a number");
  EXPECT_EQ(errorOf("time,jawOpen\n0,nan\n"),
            "take.csv:2:3: column \"jawOpen\": \"nan\" is not a finite number");
  EXPECT_EQ(errorOf("Timecode,JawOpen\n00:00,0\n"),
            "take.csv:2:1: column \"Timecode\": \"00:00\" is no timecode HH:MM:SS:FF");
  EXPECT_EQ(errorOf("jawOpen,mouthClose\n0,0\n"),
            "take.csv:1:1: no column \"Timecode\" (Live Link Face) or \"time\" (seconds) in the "
            "header");
  EXPECT_EQ(errorOf("time,jawOpen,JawOpen\n0,0,0\n"),
            "take.csv:1:14: column \"JawOpen\": is there twice");
  EXPECT_EQ(errorOf("time,jawOpen\n"), "take.csv: times: no frames");
  EXPECT_EQ(errorOf(""), "take.csv: nothing in it");
  EXPECT_EQ(errorOf(R"({"fps": 1, "names": ["a"], "frames": [[0], [0, 1]]})"),
            "take.csv: frames[1]: 2 values, but there are 1 names");
  EXPECT_EQ(errorOf(R"({"fps": 1, "names": ["a"], "frames": [["x"]]})"),
            "take.csv: frames[0]: \"a\" is not a number");
  EXPECT_EQ(errorOf(R"({"names": ["a"], "frames": [[0], [1]]})"),
            "take.csv: no \"fps\" and no times");
}

TEST(ShapeTracksFile, TimesThatNoTakeHasAreErrors) {
  EXPECT_EQ(errorOf("Timecode,JawOpen\n13:00:00:01,0\n25:61:61:99.9,0\n"),
            "take.csv:3:1: column \"Timecode\": \"25:61:61:99.9\" is no timecode HH:MM:SS:FF");
  EXPECT_EQ(errorOf("jawOpen,time\n0,0\n0, 0.2\n\n0, 0.1\n"),
            "take.csv:5:4: column \"time\": is before the frame above it");
  EXPECT_EQ(errorOf("Timecode,JawOpen\n13:00:00:02,0\n13:00:00:01,0\n"),
            "take.csv:3:1: column \"Timecode\": is before the frame above it");
  EXPECT_EQ(errorOf("time,jawOpen\n0,0\n1e9,0.5\n"),
            "take.csv:3:1: column \"time\": is 1e+09 s after the first frame; times are in "
            "seconds, and 24 h is the longest take");
  EXPECT_EQ(
      errorOf(R"([{"time": 1, "blendshapes": {"a": 0}}, {"time": 0, "blendshapes": {"a": 0}}])"),
      "take.csv: frames[1]: is before the frame above it");
  EXPECT_TRUE(errorOf(R"({"fps": 1e-300, "names": ["a"], "frames": [[0], [1]]})")
                  .starts_with("take.csv: frames[1]: is 1e+300 s after the first frame"));
  // Ten hours without a frame are a warning, however few frames there are.
  Diagnostics notes;
  ASSERT_TRUE(parse("time,jawOpen\n0,0\n36000,0.5\n", notes));
  ASSERT_EQ(notes.count("times-gap"), 1u);
  EXPECT_EQ(notes.notes()[0].text(), "take.csv: no frame for 36000 s (at 1)");
  // A take that passes midnight does not go back.
  EXPECT_TRUE(parse("Timecode,JawOpen\n23:59:59:58,0\n00:00:00:00,0\n"));
}

TEST(ShapeTracksFile, FramesKnowTheirLines) {
  const Result<ShapeTracks> tracks = parse("\ntime,jawOpen\n0,0\n\n1,0.5\n1,0.5\n2,0.5\n");
  ASSERT_TRUE(tracks) << tracks.error().text();
  EXPECT_EQ(tracks->lines, (std::vector<std::uint64_t>{3, 5, 7}));
}

TEST(ShapeTracksFile, SurvivesEveryTruncation) {
  constexpr std::string_view kJson =
      R"({"fps": 2, "names": ["jawOpen", "b"], "frames": [[0, 1], [0.5, 0]], "head": [[0,0,0,1],[0,0,0,1]]})";
  for (const std::string_view whole : {kTake, kJson})
    for (std::size_t n = 0; n < whole.size(); ++n) {
      const Result<ShapeTracks> cut = parse(whole.substr(0, n));
      if (cut)
        EXPECT_TRUE(validate(*cut, "").ok()) << n;
      else
        EXPECT_EQ(cut.error().text().find('\n'), std::string::npos);
    }
}

TEST(ShapeTracksFile, WhatIsWrittenReadsBack) {
  ShapeTracks tracks;
  tracks.names = {"mouthSmileLeft", "jawOpen", "eyeLookInLeft"};
  tracks.times_s = {0, 0.1, 0.7000001};
  tracks.values = {0, 0.1f, 1e-7f, 0.3f, 1, 0.5f, 1, 0, 0};
  tracks.head = {Quatd(0.6, 0, 0.8, 0), Quatd::Identity(), Quatd(0.5, 0.5, -0.5, 0.5)};
  Diagnostics notes;
  for (const ShapeTracksForm form :
       {ShapeTracksForm::Json, ShapeTracksForm::Csv, ShapeTracksForm::LiveLink}) {
    const Result<ShapeTracks> again = parse(shapeTracksText(tracks, form, notes));
    ASSERT_TRUE(again) << again.error().text();
    ASSERT_EQ(again->head.size(), 3u);
    for (std::size_t f = 0; f < 3; ++f) {
      EXPECT_LT(again->head[f].angularDistance(tracks.head[f]), 1e-6);
      EXPECT_NEAR(again->times_s[f], tracks.times_s[f],
                  form == ShapeTracksForm::LiveLink ? 1e-5 : 0);
    }
    if (form == ShapeTracksForm::LiveLink) {
      ASSERT_EQ(again->names.size(), 52u);
      EXPECT_EQ(again->names[17], "jawOpen");
      for (std::size_t f = 0; f < 3; ++f)
        EXPECT_NEAR(again->frame(f)[17], tracks.frame(f)[1], 1e-9);
      continue;
    }
    EXPECT_EQ(again->names, tracks.names);
    EXPECT_EQ(again->values, tracks.values);
  }
  EXPECT_TRUE(notes.empty());
  tracks.names[0] = "earWiggle";
  shapeTracksText(tracks, ShapeTracksForm::LiveLink, notes);
  EXPECT_EQ(notes.count("shape-not-in-form"), 1u);
}

TEST(ShapeTracksFile, NamesThatAreNoUtf8AreWrittenAsJson) {
  const Result<ShapeTracks> tracks = parse("time,jawOpen,b\xE9ret\n0,0,0\n1,1,0.5\n");  // Latin-1
  ASSERT_TRUE(tracks) << tracks.error().text();
  Diagnostics notes;
  const Result<ShapeTracks> again =
      parse(shapeTracksText(*tracks, ShapeTracksForm::Json, notes), notes);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->names, (std::vector<std::string>{"jawOpen", "b\xEF\xBF\xBDret"}));
  EXPECT_EQ(again->values, tracks->values);
}

TEST(ShapeTracksFile, AreToldFromPointsOverTime) {
  EXPECT_TRUE(looksLikeShapeTracks(kTake));
  EXPECT_TRUE(looksLikeShapeTracks("Timecode;JawOpen\n"));  // so that the error is the right one
  EXPECT_TRUE(looksLikeShapeTracks("time,jawOpen,mine\n0,0,0\n"));
  EXPECT_TRUE(looksLikeShapeTracks("\"Timecode\",\"BlendShapeCount\",\"JawOpen\"\n"));
  EXPECT_TRUE(looksLikeShapeTracks("\"time\",\"jawOpen\"\n"));
  EXPECT_FALSE(looksLikeShapeTracks("time,8.1.x,8.1.y,8.1.z\n0,1,2,3\n"));
  EXPECT_TRUE(looksLikeShapeTracks(R"({"fps": 1, "names": ["jawOpen"], "frames": []})"));
  EXPECT_FALSE(looksLikeShapeTracks(R"({"space": "model", "labels": ["8.1"], "frames": []})"));
  EXPECT_FALSE(looksLikeShapeTracks(""));
  EXPECT_FALSE(looksLikeShapeTracksFile("no such file"));
}

TEST(ShapeTracksFile, ARecordingIsReadWhole) {
  DERM_DATA_OR_SKIP(folder, "face-motion-arkit");
  Diagnostics notes;
  const Result<ShapeTracks> tracks = loadShapeTracks(folder / "alex_rom_3.csv", notes);
  ASSERT_TRUE(tracks) << tracks.error().text();
  EXPECT_EQ(tracks->frames(), 4030u);
  EXPECT_EQ(tracks->names.size(), 52u);
  EXPECT_TRUE(tracks->head.empty());  // it does not turn in this take
  EXPECT_NEAR(tracks->times_s.back(), 134.3818, 1e-3);
  EXPECT_EQ(notes.count("times-skip"), 3u);
  EXPECT_EQ(notes.count("times-repeat"), 0u);
}

}  // namespace
}  // namespace derm::shape_tracks_file_test
