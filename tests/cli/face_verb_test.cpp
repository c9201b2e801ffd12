#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace derm::cli_test::face_verb_test {
namespace {

TEST(FaceVerb, NamesListTheVocabularies) {
  const Outcome points = derm({"face", "names", "--json"});
  ASSERT_EQ(points.exit_code, 0) << points.err;
  EXPECT_EQ(nlohmann::json::parse(points.out).size(), 84u);
  EXPECT_EQ(nlohmann::json::parse(derm({"face", "names", "shapes", "--json"}).out).size(), 52u);
  EXPECT_NE(derm({"face", "names", "vrm"}).out.find("lookLeft"), std::string::npos);
  EXPECT_EQ(derm({"face", "names", "nonsense"}).exit_code, 2);
  EXPECT_EQ(derm({"face"}).exit_code, 2);
}

TEST(FaceVerb, RigsAHeadThatKnowsItsPoints) {
  const Folder folder;
  const Outcome o = derm({"face", "rig", "cast:head-a", "-o", folder / "rigged.glb"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("28 control joints under \"head\""), std::string::npos) << o.out;
  const Outcome told = derm({"info", folder / "rigged.glb", "--json"});
  const nlohmann::json info = nlohmann::json::parse(told.out);
  EXPECT_EQ(info["joints"], 29);
  EXPECT_EQ(info["clips"].size(), 8u);
  EXPECT_EQ(info["points"].size(), 28u);
  EXPECT_EQ(info["face"], "28 of 28 control points (MPEG-4); a control rig");
  const Outcome twice = derm({"face", "rig", folder / "rigged.glb", "-o", folder / "again.glb"});
  EXPECT_EQ(twice.exit_code, 1);
  EXPECT_NE(twice.err.find("has a face rig already"), std::string::npos) << twice.err;
}

TEST(FaceVerb, WhatItWouldLoseIsRefused) {
  const Folder folder;
  // No inputs: neither by name nor by a link.
  ASSERT_EQ(derm({"cast", "head-a", "-o", folder / "head.glb"}).exit_code, 0);
  const std::string before = contentOf(folder / "head.glb");
  const Outcome same = derm({"face", "rig", folder / "head.glb", "-o", folder / "head.glb"});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_NE(same.err.find("is an input"), std::string::npos) << same.err;
  EXPECT_EQ(contentOf(folder / "head.glb"), before);
  write(folder / "film.mp4", "not a film");
  write(folder / "first.json", "{\"9.3\": [1, 2]}");
  for (const auto& [option, file] : {std::pair{"--film", "film.mp4"}, {"--report", "first.json"}}) {
    const Outcome o = derm({"face", "track", folder / "film.mp4", "--markers",
                            folder / "first.json", "-o", folder / "t.csv", option, folder / file});
    EXPECT_EQ(o.exit_code, 2) << option;
    EXPECT_NE(o.err.find("is an input"), std::string::npos) << o.err;
  }
  const Outcome points =
      derm({"face", "retarget", "take.csv", "cast:toon", "--points", folder / "first.json",
            "--tracks", folder / "first.json", "-o", folder / "toon.glb"});
  EXPECT_EQ(points.exit_code, 2);
  EXPECT_NE(points.err.find("is an input"), std::string::npos) << points.err;
  // No joints, shapes and clips into a format that has none.
  for (const std::string verb : {"rig", "shapes"}) {
    const Outcome o = derm({"face", verb, "cast:head-a", "-o", folder / "x.obj"});
    EXPECT_EQ(o.exit_code, 2) << verb;
    EXPECT_NE(o.err.find("an .obj has no joints"), std::string::npos) << o.err;
  }
  for (const std::string verb : {"transfer", "retarget"})
    EXPECT_EQ(derm({"face", verb, "cast:head-a", "cast:head-b", "-o", folder / "x.obj"}).exit_code,
              2)
        << verb;
}

TEST(FaceVerb, PointsComeFromAFileInTheHeadsUnit) {
  const Folder folder;
  // A head in centimetres without points, and its points as another program has them.
  const nlohmann::json info = nlohmann::json::parse(derm({"info", "cast:head-b", "--json"}).out);
  nlohmann::json points;
  for (const nlohmann::json& p : info["points"]) {
    const std::string label = p["label"] == "9.3" ? "nose_tip" : p["label"].get<std::string>();
    for (const nlohmann::json& x : p["position_m"])
      points["points"][label]["position"].push_back(100 * x.get<double>());
  }
  write(folder / "points.json", points.dump());
  ASSERT_EQ(derm({"cast", "head-b", "-o", folder / "head.obj"}).exit_code, 0);
  std::string centimetres;
  std::istringstream metres(contentOf(folder / "head.obj"));
  for (std::string line; std::getline(metres, line);) {
    std::istringstream words(line);
    std::string word;
    double x = 0, y = 0, z = 0;
    words >> word;
    if (word == "v" && words >> x >> y >> z)
      line = "v " + std::to_string(100 * x) + " " + std::to_string(100 * y) + " " +
             std::to_string(100 * z);
    centimetres += line + "\n";
  }
  write(folder / "head.obj", centimetres);
  const Outcome o = derm({"face", "rig", folder / "head.obj", "--unit", "cm", "--points",
                          folder / "points.json", "-o", folder / "rigged.glb", "--no-clips"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  // In the wrong unit the points are far off: that is said.
  const Outcome wrong = derm({"face", "rig", folder / "head.obj", "--unit", "cm", "--points",
                              folder / "missing.json", "-o", folder / "rigged.glb"});
  EXPECT_EQ(wrong.exit_code, 1);
}

TEST(FaceVerb, WhatIsWrongNamesTheFileAndThePoint) {
  const Folder folder;
  const auto rig = [&](const std::string& points, const std::vector<std::string>& more = {}) {
    write(folder / "p.json", points);
    std::vector<std::string> arguments = {
        "face", "rig", "cast:head-a", "--points", folder / "p.json", "-o", folder / "r.glb"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return derm(arguments);
  };
  const Outcome some = rig(R"({"8.1": {"vertex": 5}})");
  EXPECT_EQ(some.exit_code, 1);
  EXPECT_NE(some.err.find("p.json"), std::string::npos);
  EXPECT_NE(some.err.find("27 control points are missing: 2.1 (chin_bottom)"), std::string::npos)
      << some.err;
  EXPECT_NE(rig(R"({"8.1": {"vertex": 99999999}})").err.find("point \"8.1\": vertex 99999999"),
            std::string::npos);
  EXPECT_EQ(rig("{").exit_code, 1);
  const auto zone = [&](const std::string& text) {
    return derm({"face", "rig", "cast:head-a", "--zone", text, "-o", folder / "r.glb"});
  };
  EXPECT_EQ(zone("2.1=1.2").exit_code, 0);
  EXPECT_EQ(zone("chin_bottom=1.2,1,1").exit_code, 0);
  for (const char* text : {"2.1", "2.1=", "=1", "2.1=1,2", "2.1=x", "2.1=0", "nobody=1"})
    EXPECT_EQ(zone(text).exit_code, 2) << text;
}

}  // namespace
}  // namespace derm::cli_test::face_verb_test
