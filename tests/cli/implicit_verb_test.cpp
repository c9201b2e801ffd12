#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace derm::cli_test::implicit_verb_test {
namespace {

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
