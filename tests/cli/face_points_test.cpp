#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

/// derm face points, and heads that come without any.
namespace derm::cli_test::face_points_test {
namespace {

nlohmann::json jsonOf(const std::string& file) { return nlohmann::json::parse(contentOf(file)); }

/// [m] between two positions of JSON.
double distance(const nlohmann::json& a, const nlohmann::json& b) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double d = a[i].get<double>() - b[i].get<double>();
    sum += d * d;
  }
  return std::sqrt(sum);
}

TEST(FacePoints, OfTheHeadItselfCountOnlyWhereGiven) {
  const Folder folder;
  const nlohmann::json info = nlohmann::json::parse(derm({"info", "cast:man", "--json"}).out);
  nlohmann::json own;
  for (const nlohmann::json& p : info["points"]) own[p["label"]] = p["position_m"];
  const std::string out = folder / "p.json", report = folder / "r.json";
  const Outcome o = derm({"face", "points", "cast:man", "--from", "cast:woman", "-o", out,
                          "--report", report, "--picture", folder / "p.png"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("28 points by registration"), std::string::npos) << o.out;
  const nlohmann::json points = jsonOf(out)["points"];
  // Found by shape: near what the head says itself, and not the same.
  double sum = 0, largest = 0;
  for (const auto& [label, point] : points.items()) {
    const double d = distance(point["position"], own[label]);
    sum += d;
    largest = std::max(largest, d);
  }
  EXPECT_LT(sum / 28, 0.004);
  EXPECT_GT(largest, 1e-4);
  const nlohmann::json told = jsonOf(report);
  EXPECT_EQ(told["points"].size(), 28u);
  EXPECT_EQ(told["method"], "registration");
  EXPECT_GT(told["seconds"], 0);
  EXPECT_LT(told["residual"], 0.38);
  EXPECT_FALSE(told.contains("joints"));
  // What is given stays.
  write(folder / "two.json",
        nlohmann::json{{"9.3", {{"position", own["9.3"]}}}, {"2.1", {{"position", own["2.1"]}}}}
            .dump());
  const Outcome given = derm({"face", "points", "cast:man", "--from", "cast:woman", "--points",
                              folder / "two.json", "-o", out});
  ASSERT_EQ(given.exit_code, 0) << given.err;
  EXPECT_LT(distance(jsonOf(out)["points"]["9.3"]["position"], own["9.3"]), 1e-5);
}

TEST(FacePoints, NeverOverwriteWhatTheyWereMadeFrom) {
  const Folder folder;
  const std::string known = folder / "known.json";
  write(known, "{}");
  for (const std::string option : {"-o", "--report"}) {
    std::vector<std::string> arguments = {"face",     "points", "cast:man", "--from", "cast:woman",
                                          "--points", known,    option,     known};
    if (option != "-o") arguments.insert(arguments.end(), {"-o", folder / "p.json"});
    const Outcome o = derm(arguments);
    EXPECT_EQ(o.exit_code, 2) << option;
    EXPECT_NE(o.err.find("is an input"), std::string::npos) << o.err;
    EXPECT_EQ(contentOf(known), "{}");
  }
}

/// OBJ files have no points.
TEST(FacePoints, AreFoundWhereAHeadHasNone) {
  const Folder folder;
  const std::string head = folder / "head.obj", rigged = folder / "rigged.glb";
  ASSERT_EQ(derm({"cast", "woman", "-o", head}).exit_code, 0);
  const Outcome rig = derm({"face", "rig", head, "-o", rigged});
  ASSERT_EQ(rig.exit_code, 0) << rig.err;
  EXPECT_NE(rig.err.find("head.obj: had no control points; found from cast:man by shape"),
            std::string::npos)
      << rig.err;
  EXPECT_NE(rig.out.find("28 control joints"), std::string::npos) << rig.out;
  // A source, too; --source-points come first.
  const Outcome carried = derm({"face", "transfer", head, "cast:man", "--no-shapes", "-o",
                                folder / "man.glb", "--picture", folder / "man.png"});
  EXPECT_EQ(carried.exit_code, 0) << carried.err;
  EXPECT_NE(carried.err.find("or give them by --source-points"), std::string::npos) << carried.err;
  const nlohmann::json info = nlohmann::json::parse(derm({"info", rigged, "--json"}).out);
  nlohmann::json points;
  for (const nlohmann::json& p : info["points"])
    points[p["label"].get<std::string>()]["position"] = p["position_m"];
  write(folder / "points.json", points.dump());
  const Outcome given = derm(
      {"face", "shapes", head, "--points", folder / "points.json", "-o", folder / "shapes.glb"});
  EXPECT_EQ(given.exit_code, 0) << given.err;
  EXPECT_EQ(given.err.find("had no control points"), std::string::npos) << given.err;
}

TEST(FacePoints, OfWhatHasNoFaceAreAnError) {
  const Folder folder;
  const Outcome o = derm({"face", "rig", "cast:mushroom", "--upright", "-o", folder / "r.glb"});
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_NE(o.err.find("cast:mushroom: has no control points, and cannot find a face: "),
            std::string::npos)
      << o.err;
  EXPECT_NE(o.err.find("--points FILE gives them"), std::string::npos) << o.err;
}

}  // namespace
}  // namespace derm::cli_test::face_points_test
