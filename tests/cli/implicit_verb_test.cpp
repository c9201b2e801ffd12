#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace derm::cli_test::implicit_verb_test {
namespace {

/// A lump of particles, shifted.
std::string lump(double shift) {
  std::string text;
  for (int i = 0; i < 64; ++i)
    text += std::to_string(0.04 * (i % 4) + shift) + " " + std::to_string(0.04 * (i / 4 % 4)) +
            " " + std::to_string(0.04 * (i / 16)) + "\n";
  return text;
}

std::vector<std::string> surfacing(const std::string& from, const std::string& to) {
  return {"implicit", "particles", from, "--radius", "0.02", "--voxel", "0.02", "-o", to};
}

TEST(ImplicitVerb, MorphsAndReportsTheSplit) {
  const Folder folder;
  const Outcome o = derm({"implicit", "morph", "cast:six-blobs", "cast:two-spheres", "--resolution",
                          "32", "--seconds", "1.5", "--fps", "10", "-o", folder / "m_{frame}.ply",
                          "--report", folder / "r.json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const nlohmann::json r = nlohmann::json::parse(contentOf(folder / "r.json"));
  ASSERT_EQ(r["steps"].size(), 16u);
  for (const char* key : {"t", "chi", "components", "volume", "area", "residual_mean",
                          "residual_max", "active_nodes"})
    EXPECT_TRUE(r["steps"][0].contains(key)) << key;
  EXPECT_EQ(r["steps"].front()["chi"], 2);
  EXPECT_EQ(r["steps"].back()["chi"], 4);
  EXPECT_EQ(r["steps"].back()["components"], 2);
  bool split = false;
  for (const nlohmann::json& e : r["events"]) split |= e["kind"] == "split";
  EXPECT_TRUE(split);
  EXPECT_TRUE(std::filesystem::exists(folder / "m_0000.ply"));
  EXPECT_TRUE(std::filesystem::exists(folder / "m_0015.ply"));
}

TEST(ImplicitVerb, AStrongerPenaltyEndsNearerToTheVolumeThatIsWanted) {
  const Folder folder;
  const auto off = [&](const std::string& gain) {
    const Outcome o = derm({"implicit", "morph", "cast:six-blobs", "cast:two-spheres",
                            "--resolution", "24", "--seconds", "1", "--fps", "5", "--volume",
                            "penalty", "--volume-gain", gain, "--report", folder / "r.json"});
    EXPECT_EQ(o.exit_code, 0) << o.err;
    const nlohmann::json last = nlohmann::json::parse(contentOf(folder / "r.json"))["steps"].back();
    return std::abs(last["volume"].get<double>() / last["wanted_volume"].get<double>() - 1);
  };
  EXPECT_LT(off("20"), 0.5 * off("1"));
  EXPECT_EQ(derm({"implicit", "morph", "cast:six-blobs", "cast:two-spheres", "--volume-gain", "-1"})
                .exit_code,
            2);
}

nlohmann::json blobsTo(const Folder& folder, std::vector<std::string> more, Outcome& o) {
  std::vector<std::string> all = {"implicit",     "morph", "cast:six-blobs", "cast:two-spheres",
                                  "--resolution", "32",    "--seconds",      "1.5",
                                  "--fps",        "10",    "--report",       folder / "r.json"};
  all.insert(all.end(), more.begin(), more.end());
  o = derm(all);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  return nlohmann::json::parse(contentOf(folder / "r.json"));
}

// Two balls that must have the volume of six blobs touch: the skin never parted, and nothing was
// said.
TEST(ImplicitVerb, AHeldVolumeThatIsNotTheTargetsIsToldAndMayGoOver) {
  const Folder folder;
  Outcome o;
  const nlohmann::json held = blobsTo(folder, {"--volume", "exact"}, o);
  EXPECT_NE(o.err.find("the skin keeps"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("--wanted-volume target"), std::string::npos) << o.err;
  EXPECT_NEAR(
      held["steps"].back()["volume"].get<double>() / held["steps"].front()["volume"].get<double>(),
      1, 0.01);
  const nlohmann::json over =
      blobsTo(folder, {"--volume", "exact", "--wanted-volume", "target"}, o);
  EXPECT_EQ(o.err.find("the skin keeps"), std::string::npos) << o.err;
  EXPECT_EQ(over["steps"].back()["components"], 2);
  EXPECT_LT(std::abs(over["steps"].back()["volume"].get<double>() /
                         over["steps"].back()["wanted_volume"].get<double>() -
                     1),
            0.01);
  // The split is told where it happens.
  EXPECT_NE(o.out.find("s: split"), std::string::npos) << o.out;
}

TEST(ImplicitVerb, HoldsVolumeAndAreaOverTime) {
  const Folder folder;
  Outcome o;
  const nlohmann::json r =
      blobsTo(folder, {"--volume", "exact", "--wanted-volume", "0:1,0.5:1,1.5:1.4"}, o);
  const auto volume = [&](std::size_t i) { return r["steps"][i]["volume"].get<double>(); };
  EXPECT_NEAR(volume(5) / volume(0), 1, 0.02);
  EXPECT_NEAR(volume(15) / volume(0), 1.4, 0.03);
  for (const char* wrong : {"1", "0:0", "0:1,0:2", "a:1", "0:1,,1:1"})
    EXPECT_EQ(derm({"implicit", "morph", "cast:sphere", "cast:torus", "--wanted-volume", wrong})
                  .exit_code,
              2)
        << wrong;
}

TEST(ImplicitVerb, ASkinWithMassOvershoots) {
  const Folder folder;
  const auto most = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = {
        "implicit", "morph",     "cast:torus", "cast:sphere",    "--resolution",
        "24",       "--seconds", "1.5",        "--fps",          "10",
        "--beta",   "0",         "--report",   folder / "r.json"};
    all.insert(all.end(), more.begin(), more.end());
    const Outcome o = derm(all);
    EXPECT_EQ(o.exit_code, 0) << o.err;
    double largest = 0;
    const nlohmann::json steps = nlohmann::json::parse(contentOf(folder / "r.json"))["steps"];
    for (const nlohmann::json& s : steps) largest = std::max(largest, s["volume"].get<double>());
    return largest;
  };
  const double ball = most({});
  EXPECT_GT(most({"--inertia"}), 1.05 * ball);
  EXPECT_GT(most({"--inertia", "--damping", "1"}), most({"--inertia"}));
  EXPECT_EQ(derm({"implicit", "morph", "cast:sphere", "cast:torus", "--stiffness", "9"}).exit_code,
            2)
      << "without --inertia it means nothing";
}

TEST(ImplicitVerb, NodeWiseSpeedsAreTheLiteralForm) {
  const Folder folder;
  Outcome o;
  const double points = blobsTo(folder, {"--beta", "0"}, o)["steps"].back()["residual_mean"];
  const double nodes =
      blobsTo(folder, {"--beta", "0", "--evaluation", "nodes"}, o)["steps"].back()["residual_mean"];
  EXPECT_GT(nodes, 20 * points);
}

TEST(ImplicitVerb, SurfacesParticlesThatAreCutWhereMatterIsThin) {
  const Folder folder;
  const Outcome o = derm({"implicit", "particles", "cast:pour", "--splits", "1", "--seconds", "0.4",
                          "--fps", "15", "--volume", "exact", "-o", folder / "s_{frame}.ply",
                          "--report", folder / "r.json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const nlohmann::json steps = nlohmann::json::parse(contentOf(folder / "r.json"))["steps"];
  ASSERT_FALSE(steps.empty());
  EXPECT_TRUE(steps.back().contains("cavities"));
  EXPECT_NEAR(steps.back()["volume"].get<double>() / steps.back()["wanted_volume"].get<double>(), 1,
              0.01);
}

TEST(ImplicitVerb, FollowsASequenceOfLevelSets) {
  const Folder folder;
  const Outcome made = derm({"implicit", "morph", "cast:sphere", "cast:torus", "--resolution", "24",
                             "--seconds", "0.5", "--fps", "10", "-o", folder / "m_{frame}.vdb"});
  if (made.err.find("OpenVDB") != std::string::npos) GTEST_SKIP() << "built without OpenVDB";
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Outcome o = derm({"implicit", "grids", folder / "m_{frame}.vdb", "--fps", "10", "-o",
                          folder / "s_{frame}.ply", "--report", folder / "r.json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const nlohmann::json r = nlohmann::json::parse(contentOf(folder / "r.json"));
  ASSERT_EQ(r["steps"].size(), 6u);
  EXPECT_TRUE(std::filesystem::exists(folder / "s_0005.ply"));
  for (const nlohmann::json& s : r["steps"])
    EXPECT_LT(s["residual_mean"].get<double>(), 0.5 * 2 / 23) << s.dump();
  const Outcome density = derm({"implicit", "grids", folder / "m_{frame}.vdb", "--density", "0.5"});
  EXPECT_EQ(density.exit_code, 1);
  EXPECT_NE(density.err.find("is a level set, not a density"), std::string::npos) << density.err;
}

TEST(ImplicitVerb, ParticlesAreNotWrittenOver) {
  const Folder folder;
  for (const char* file : {"p_1.ply", "p_2.ply"}) write(folder / file, lump(0));
  for (const char* output : {"p_{frame}.ply", "p_2.ply"}) {
    const Outcome o = derm(surfacing(folder / "p_{frame}.ply", folder / output));
    EXPECT_EQ(o.exit_code, 2) << output << o.err;
  }
  EXPECT_EQ(derm(surfacing(folder / "p_1.ply", folder / "p_1.ply")).exit_code, 2);
  EXPECT_EQ(contentOf(folder / "p_1.ply"), lump(0));
  EXPECT_EQ(contentOf(folder / "p_2.ply"), lump(0));
}

TEST(ImplicitVerb, ClosedCavitiesAreTold) {
  const Folder folder;
  std::string text;  // a hollow ball of particles
  for (int i = 0; i < 900; ++i) {
    const double y = 1 - (2 * i + 1.0) / 900, ring = std::sqrt(1 - y * y), turn = 2.39996 * i;
    text += std::to_string(0.3 * ring * std::cos(turn)) + " " + std::to_string(0.3 * y) + " " +
            std::to_string(0.3 * ring * std::sin(turn)) + "\n";
  }
  write(folder / "p.xyz", text);
  const Outcome o = derm(surfacing(folder / "p.xyz", folder / "s.ply"));
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.err.find("1 closed cavity"), std::string::npos) << o.err;
}

TEST(ImplicitVerb, PointsToTheHelpOfTheVerbThatWasAskedFor) {
  EXPECT_NE(
      derm({"implicit", "particles", "--nonsense"}).err.find("derm implicit particles --help"),
      std::string::npos);
  EXPECT_NE(derm({"implicit", "nonsense"}).err.find("(derm implicit --help"), std::string::npos);
  EXPECT_NE(derm({"nonsense"}).err.find("(derm --help"), std::string::npos);
}

TEST(ImplicitVerb, SurfacesParticlesIntoOneFileThatPlays) {
  const Folder folder;
  for (int f = 0; f < 3; ++f) {
    std::string text;
    for (int i = 0; i < 125; ++i)
      text += std::to_string(0.04 * (i % 5) + 0.01 * f) + " " + std::to_string(0.04 * (i / 5 % 5)) +
              " " + std::to_string(0.04 * (i / 25)) + "\n";
    write(folder / ("p_" + std::to_string(f) + ".xyz"), text);
  }
  const Outcome o = derm({"implicit", "particles", folder / "p_{frame}.xyz", "--radius", "0.02",
                          "--voxel", "0.015", "--volume", "exact", "-o", folder / "skin.glb"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const Outcome info = derm({"info", folder / "skin.glb", "--json"});
  EXPECT_EQ(info.exit_code, 0) << info.err;
}

TEST(ImplicitVerb, FramesWithoutParticlesAreEmptyFrames) {
  const Folder folder;
  for (const int f : {7, 8, 11}) write(folder / ("p_" + std::to_string(f) + ".xyz"), "");
  for (const int f : {9, 10, 12})
    write(folder / ("p_" + std::to_string(f) + ".xyz"), lump(0.01 * f));
  for (const char* ending : {".ply", ".obj", ".glb"}) {
    std::vector<std::string> all =
        surfacing(folder / "p_{frame}.xyz", folder / "s_{frame}" + std::string(ending));
    all.insert(all.end(), {"--report", folder / "r.json"});
    const Outcome o = derm(all);
    ASSERT_EQ(o.exit_code, 0) << o.err;
    // Numbered as the particles are, the empty ones too.
    for (int f = 7; f <= 12; ++f)
      EXPECT_TRUE(
          std::filesystem::exists(folder / ("s_" + std::to_string(f) + std::string(ending))))
          << f << ending;
    const nlohmann::json steps = nlohmann::json::parse(contentOf(folder / "r.json"))["steps"];
    ASSERT_EQ(steps.size(), 6u);
    for (const std::size_t f : {0, 1, 4}) EXPECT_EQ(steps[f]["volume"], 0.0) << f;
    for (const std::size_t f : {2, 3, 5}) EXPECT_GT(steps[f]["volume"], 0.0) << f;
    for (std::size_t f = 0; f < 6; ++f) EXPECT_NEAR(steps[f]["t"], double(f) / 30, 1e-6);
  }
  const Outcome one = derm(surfacing(folder / "p_{frame}.xyz", folder / "all.glb"));
  EXPECT_EQ(one.exit_code, 0) << one.err;
}

TEST(ImplicitVerb, ASequenceWithoutAnyParticleIsAnError) {
  const Folder folder;
  write(folder / "p_1.xyz", "");
  write(folder / "p_2.xyz", "# nothing\n");
  const Outcome o = derm(surfacing(folder / "p_{frame}.xyz", folder / "s_{frame}.ply"));
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_NE(o.err.find("no particles in any of the files"), std::string::npos) << o.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "s_1.ply"));
  const Outcome one = derm(surfacing(folder / "p_1.xyz", folder / "s.ply"));
  EXPECT_NE(one.err.find("no particles in the file"), std::string::npos) << one.err;
}

TEST(ImplicitVerb, SequencesKeepTheNumbersOfTheirParticles) {
  const Folder folder;
  write(folder / "p_001.xyz", lump(0));
  write(folder / "p_003.xyz", lump(0.01));
  ASSERT_EQ(derm(surfacing(folder / "p_{frame}.xyz", folder / "s_{frame}.glb")).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "s_001.glb"));
  EXPECT_TRUE(std::filesystem::exists(folder / "s_003.glb"));
  EXPECT_FALSE(std::filesystem::exists(folder / "s_0000.glb"));
}

TEST(ImplicitVerb, OneFrameNeedsNoNumber) {
  const Folder folder;
  write(folder / "p.xyz", lump(0));
  for (const char* name : {"x.obj", "x.ply", "x.glb"}) {
    const Outcome o = derm(surfacing(folder / "p.xyz", folder / name));
    EXPECT_EQ(o.exit_code, 0) << o.err;
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  }
  write(folder / "q_1.xyz", lump(0));
  write(folder / "q_2.xyz", lump(0));
  const Outcome two = derm(surfacing(folder / "q_{frame}.xyz", folder / "y.obj"));
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_NE(two.err.find("put {frame} into its name"), std::string::npos) << two.err;
  std::vector<std::string> strip = surfacing(folder / "p.xyz", folder / "z.obj");
  strip.insert(strip.end(), {"--strip", folder / "{frame}.png"});
  EXPECT_EQ(derm(strip).exit_code, 2);
}

TEST(ImplicitVerb, LooksFromWhereTheCameraIsPut) {
  const Folder folder;
  const auto strip = [&](const std::string& yaw) {
    const std::string file = folder / ("seen_from_" + yaw + ".png");
    const Outcome o = derm({"implicit", "morph", "cast:letter-d", "cast:sphere", "--resolution",
                            "24", "--seconds", "0.1", "--fps", "10", "--size", "200x120", "--yaw",
                            yaw, "--strip", file});
    EXPECT_EQ(o.exit_code, 0) << o.err;
    return contentOf(file);
  };
  EXPECT_NE(strip("0"), strip("90"));
  EXPECT_EQ(strip("0"), strip("360"));
}

TEST(ImplicitVerb, WritesLevelSetsThatItReadsAgain) {
  const Folder folder;
  const Outcome o = derm({"implicit", "morph", "cast:sphere", "cast:torus", "--resolution", "24",
                          "--seconds", "0.3", "--fps", "10", "-o", folder / "m_{frame}.vdb"});
  if (o.err.find("OpenVDB") != std::string::npos) GTEST_SKIP() << "built without OpenVDB";
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const Outcome back = derm({"implicit", "morph", folder / "m_0000.vdb", folder / "m_0003.vdb",
                             "--no-fit", "--resolution", "24", "--seconds", "0.5", "--fps", "10",
                             "--report", folder / "r.json"});
  ASSERT_EQ(back.exit_code, 0) << back.err;
  const nlohmann::json r = nlohmann::json::parse(contentOf(folder / "r.json"));
  EXPECT_EQ(r["steps"].front()["chi"], 2);
}

TEST(ImplicitVerb, SaysWhenTheTimeWasTooShort) {
  const Outcome o = derm({"implicit", "morph", "cast:sphere", "cast:letter-d", "--resolution", "32",
                          "--seconds", "0.1", "--fps", "10"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.err.find("voxels off"), std::string::npos) << o.err;
}

TEST(ImplicitVerb, TurnsAMeshThatIsInsideOutAndNamesIt) {
  const Folder folder;
  write(folder / "pit.obj",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n");
  const Outcome o = derm({"implicit", "morph", folder / "pit.obj", "cast:sphere", "--resolution",
                          "24", "--seconds", "0.1", "--fps", "10"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.err.find("pit.obj: the triangles face inwards"), std::string::npos) << o.err;
}

TEST(ImplicitVerb, SaysWhatIsWrong) {
  const Folder folder;
  write(folder / "bad.xyz", "1 2 3\n4 nan 6\n");
  EXPECT_EQ(derm({"implicit"}).exit_code, 2);
  EXPECT_EQ(derm({"implicit", "morph", "cast:sphere"}).exit_code, 2);
  EXPECT_EQ(derm({"implicit", "morph", "cast:sphere", "cast:torus", "-o", "x.png"}).exit_code, 2);
  EXPECT_EQ(derm({"implicit", "particles", folder / "no_{frame}.xyz"}).exit_code, 1);
  EXPECT_EQ(derm({"implicit", "particles", folder / "bad.xyz", "--radius", "0"}).exit_code, 2);
  const Outcome nan = derm({"implicit", "particles", folder / "bad.xyz", "--radius", "0.1"});
  EXPECT_EQ(nan.exit_code, 1);
  EXPECT_NE(nan.err.find("bad.xyz:2"), std::string::npos) << nan.err;
  const Outcome memory = derm({"implicit", "morph", "cast:sphere", "cast:torus", "--resolution",
                               "3000", "--max-memory", "0.05"});
  EXPECT_NE(memory.exit_code, 0);
  EXPECT_NE(memory.err.find("MB allowed"), std::string::npos) << memory.err;
}

}  // namespace
}  // namespace derm::cli_test::implicit_verb_test
