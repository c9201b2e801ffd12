// The verbs that work on recipes: bake, plot, render, demo.
#include <algorithm>
#include <csignal>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/run_program.h"

namespace derm::cli_test::scene_verbs_test {
namespace {

constexpr const char* kRecipe = R"toml(
character = "cast:cat"       # or a path, relative to this file
clip = "jump"                # name or number; default the first
fps = 60                     # [Hz] of what comes out
range_s = [0.0, 2.0]         # optional
preroll_s = 0.5              # [s] simulated before the first frame
loop = false

[skinning]
method = "linear"            # rigid | linear | dual-quaternion
)toml";

/// Whether there is a renderer here; without one pictures are an error that says so.
bool canRender() {
  const Folder folder;
  return derm({"render", "cast:cylinder", "-o", folder / "x.png", "--size", "32x32"}).exit_code ==
         0;
}

class SceneVerbs : public testing::Test {
 protected:
  std::string recipe(const std::string& text = kRecipe) {
    write(folder_ / "recipe.toml", text);
    return folder_ / "recipe.toml";
  }
  std::ptrdiff_t fileCount() const {
    return std::distance(std::filesystem::directory_iterator(folder_.path()), {});
  }
  /// Until the program has begun to write beside the one file there is, or has ended; it is left to
  /// be waited for.
  void waitUntilItWrites(pid_t child) const {
    siginfo_t ended{};
    while (fileCount() < 2 && ended.si_pid == 0) {
      ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
      ::usleep(200);
    }
  }
  Folder folder_;
};

TEST_F(SceneVerbs, TheManualsRecipeBakesToEveryFormat) {
  const std::string input = recipe();
  for (const char* name : {"a.glb", "a.gltf", "a.pc2", "a.mdd", "a_{frame}.obj"}) {
    const Outcome o = derm({"bake", input, "-o", folder_ / name});
    EXPECT_EQ(o.exit_code, 0) << name << o.err;
    EXPECT_NE(o.out.find("121 frames"), std::string::npos) << o.out;
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "a_000.obj"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "a_120.obj"));
  EXPECT_EQ(derm({"check", folder_ / "a.glb"}).exit_code, 0);
}

TEST_F(SceneVerbs, SeveralClipsInOneFileWithAsManyInfluencesAsAskedFor) {
  const Outcome o = derm({"bake", "cast:cat", "--clip", "all", "--fps", "6", "--influences", "2",
                          "--as", "correctives", "--error-mm", "5", "-o", folder_ / "a.glb",
                          "--report", folder_ / "r.json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find(" clips"), std::string::npos) << o.out;
  const nlohmann::json r = nlohmann::json::parse(contentOf(folder_ / "r.json"));
  EXPECT_GE(r["clips"].size(), 2u);
  EXPECT_EQ(r["frames"].back()["clip"], r["clips"].back());
  EXPECT_EQ(r["correctives"]["max_influences"], 2);
  EXPECT_LE(r["correctives"]["max_error_four_influences_mm"].get<double>(), 5);
  EXPECT_EQ(derm({"check", folder_ / "a.glb"}).exit_code, 0);
  EXPECT_EQ(derm({"plot", folder_ / "r.json", "-o", folder_ / "r.svg"}).exit_code, 2);
  const Outcome again =
      derm({"bake", "cast:cat", "--clip", "run", "--clip", "jump", "-o", folder_ / "b.glb"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("a cache holds one clip"), std::string::npos) << again.err;
  const Outcome plotted = derm({"bake", "cast:cat", "--clip", "all", "--as", "correctives", "-o",
                                folder_ / "c.glb", "--plot", folder_ / "c.svg"});
  EXPECT_EQ(plotted.exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "c.glb")) << "nothing is written before";
}

TEST_F(SceneVerbs, FoldsBecomeNormalMapsOfTheUnrefinedMesh) {
  const std::string forehead = R"toml(
character = "cast:man"
range_s = [0.0, 2.0]
fps = 4
[[layer]]
type = "wrinkles"
from = [0.0, 0.196, 0.089]
to = [0.0, 0.232, 0.080]
width_m = 0.07
points = 9
h_max_m = 0.003
rest_length_keys = [0.0, 0.036, 1.0, 0.060, 2.0, 0.036]
)toml";
  const Outcome o = derm({"bake", recipe(forehead), "--as", "normal-maps", "--map-size", "128",
                          "-o", folder_ / "a.glb", "--report", folder_ / "r.json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const nlohmann::json r = nlohmann::json::parse(contentOf(folder_ / "r.json"));
  EXPECT_GT(r["fold_maps"]["maps"].get<int>(), 0);
  EXPECT_LE(r["fold_maps"]["maps"].get<int>(), 8);
  EXPECT_EQ(derm({"check", folder_ / "a.glb"}).exit_code, 0);
  const Outcome none =
      derm({"bake", "cast:cylinder", "--as", "normal-maps", "--fps", "4", "-o", folder_ / "b.glb"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("no layer refines the skin"), std::string::npos) << none.err;
  EXPECT_EQ(derm({"bake", recipe(forehead), "--maps", "2", "-o", folder_ / "c.glb"}).exit_code, 2);
}

TEST_F(SceneVerbs, TheReportHasTheKeysMachinesRelyOnAndCanBePlotted) {
  const Outcome o = derm({"bake", "cast:cat", "--recipe", recipe(), "--method", "dual-quaternion",
                          "--as", "correctives", "--error-mm", "1", "-o", folder_ / "a.glb",
                          "--report", folder_ / "r.json", "--plot", folder_ / "first.svg"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const nlohmann::json r = nlohmann::json::parse(contentOf(folder_ / "r.json"));
  ASSERT_EQ(r["frames"].size(), 121u);
  for (const char* key : {"time_s", "volume_m3", "area_m2", "max_displacement_m"})
    EXPECT_TRUE(r["frames"][7][key].is_number()) << key;
  for (const char* key : {"name", "type", "ms_per_frame"})
    EXPECT_TRUE(r["layers"][0].contains(key)) << key;
  EXPECT_GT(r["correctives"]["shapes"].get<int>(), 1);
  EXPECT_LE(r["correctives"]["max_error_m"].get<double>(), 0.001);
  EXPECT_LE(r["correctives"]["max_error_between_m"].get<double>(), 0.001);
  EXPECT_GT(r["correctives"]["rms_error_m"].get<double>(), 0);
  EXPECT_EQ(r["state_hash"].get<std::string>().size(), 16u);
  for (const char* plot : {"p.svg", "p.png"})
    EXPECT_EQ(derm({"plot", folder_ / "r.json", "-o", folder_ / plot}).exit_code, 0);
  EXPECT_EQ(contentOf(folder_ / "p.svg"), contentOf(folder_ / "first.svg"));
  EXPECT_NE(contentOf(folder_ / "p.svg").find("volume of cat, jump"), std::string::npos);
}

TEST_F(SceneVerbs, ClipsCanBeGivenByNumber) {
  ASSERT_EQ(derm({"bake", "cast:cat", "--clip", "jump", "-o", folder_ / "name.pc2"}).exit_code, 0);
  const Outcome o = derm({"bake", "cast:cat", "--clip", "1", "-o", folder_ / "number.pc2"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_TRUE(contentOf(folder_ / "number.pc2") == contentOf(folder_ / "name.pc2"));
  EXPECT_EQ(derm({"bake", "cast:cat", "--clip", "9", "-o", folder_ / "no.pc2"}).exit_code, 2);
}

TEST_F(SceneVerbs, ProposedRecipesNameTheirCharacterFromWhereTheyLie) {
  std::filesystem::create_directory(folder_ / "models");
  std::filesystem::create_directory(folder_ / "recipes");
  const std::string cat = folder_ / "models/cat.glb";
  ASSERT_EQ(derm({"cast", "cat", "-o", cat}).exit_code, 0);
  for (const char* verb : {"flesh", "wrinkles"}) {
    const std::string proposed = folder_ / ("recipes/" + std::string(verb) + ".toml");
    ASSERT_EQ(derm({verb, "auto", cat, "--clip", "jump", "-o", proposed}).exit_code, 0) << verb;
    EXPECT_NE(contentOf(proposed).find("\"../models/cat.glb\""), std::string::npos) << verb;
    const Outcome o = derm({"bake", proposed, "--fps", "5", "-o", folder_ / "a.pc2"});
    EXPECT_EQ(o.exit_code, 0) << verb << o.err;
  }
}

TEST_F(SceneVerbs, ProposedRecipesRememberTheUnitTheyWereMadeFor) {
  // An arm ten times as large: a recipe that forgot would look for its places elsewhere.
  const std::string arm = folder_ / "arm.glb";
  ASSERT_EQ(derm({"cast", "arm", "-o", arm}).exit_code, 0);
  for (const char* verb : {"flesh", "wrinkles"}) {
    const std::string proposed = folder_ / (std::string(verb) + ".toml");
    ASSERT_EQ(derm({verb, "auto", arm, "--unit", "10", "--clip", "flex", "-o", proposed}).exit_code,
              0);
    ASSERT_EQ(derm({"bake", proposed, "--fps", "4", "-o", folder_ / "a.pc2"}).exit_code, 0);
    ASSERT_EQ(
        derm({"bake", proposed, "--unit", "10", "--fps", "4", "-o", folder_ / "b.pc2"}).exit_code,
        0);
    EXPECT_TRUE(contentOf(folder_ / "a.pc2") == contentOf(folder_ / "b.pc2")) << verb;
    ASSERT_EQ(
        derm({"bake", arm, "--recipe", proposed, "--fps", "4", "-o", folder_ / "b.pc2"}).exit_code,
        0);
    EXPECT_TRUE(contentOf(folder_ / "a.pc2") == contentOf(folder_ / "b.pc2")) << verb;
  }
}

TEST_F(SceneVerbs, PlotsHaveTheFormatOfTheirEnding) {
  EXPECT_EQ(derm({"volume", "cast:cylinder", "--fps", "2", "--plot", folder_ / "v.png"}).exit_code,
            0);
  EXPECT_TRUE(contentOf(folder_ / "v.png").starts_with("\x89PNG"));
  EXPECT_EQ(derm({"volume", "cast:cylinder", "--plot", folder_ / "v.pdf"}).exit_code, 2);
  EXPECT_EQ(derm({"bake", "cast:cylinder", "-o", folder_ / "a.pc2", "--plot", folder_ / "v.pdf"})
                .exit_code,
            2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.pc2"));
}

TEST_F(SceneVerbs, LayersThatNeedASkinSayWhenThereIsNone) {
  ASSERT_EQ(derm({"pose", "cast:cylinder", "--time", "0", "-o", folder_ / "bare.obj"}).exit_code,
            0);
  const Outcome o =
      derm({"bake", recipe("character = \"bare.obj\"\n[[layer]]\ntype = \"volume\"\n"), "-o",
            folder_ / "a.pc2"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.err.find("no skin bends here"), std::string::npos) << o.err;
}

TEST_F(SceneVerbs, BakingAPlainGlbSaysNothingOfWhatItDoesNotHave) {
  ASSERT_EQ(derm({"cast", "cylinder", "-o", folder_ / "c.glb"}).exit_code, 0);
  const Outcome o =
      derm({"bake", folder_ / "c.glb", "--range", "0", "0.1", "-o", folder_ / "b.glb"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(o.err.find("cameras"), std::string::npos) << o.err;
}

TEST_F(SceneVerbs, NumbersThatMustBeAboveZeroAreNamed) {
  const Outcome o = derm(
      {"bake", "cast:cylinder", "--as", "correctives", "--error-mm", "0", "-o", folder_ / "b.glb"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_NE(o.err.find("--error-mm: must be a number above 0, not 0"), std::string::npos) << o.err;
}

TEST_F(SceneVerbs, SameBytesForEveryThreadCount) {
  const std::string input = recipe();
  std::string first;
  for (const char* threads : {"1", "2", "8"}) {
    ASSERT_EQ(derm({"bake", input, "--method", "dual-quaternion", "--as", "correctives", "--shapes",
                    "5", "-o", folder_ / "a.glb", "--threads", threads})
                  .exit_code,
              0);
    if (first.empty()) first = contentOf(folder_ / "a.glb");
    EXPECT_TRUE(contentOf(folder_ / "a.glb") == first) << threads << " threads";
  }
}

TEST_F(SceneVerbs, AKilledBakeLeavesTheOldOutputWhole) {
  const std::string file = folder_ / "old.pc2";
  write(file, "old");
  const pid_t child = startDerm({"bake", "cast:cat", "--clip", "jump", "--fps", "1000", "-o", file,
                                 "--report", folder_ / "r.json"});
  waitUntilItWrites(child);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it was done before it could be killed";
  EXPECT_EQ(contentOf(file), "old");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r.json"));
}

TEST_F(SceneVerbs, AnInterruptedBakeCleansUpAndSaysSo) {
  const std::string file = folder_ / "old.pc2";
  write(file, "old");
  const pid_t child =
      startDerm({"bake", "cast:cat", "--clip", "jump", "--fps", "1000", "-o", file});
  waitUntilItWrites(child);
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(contentOf(file), "old");
  EXPECT_EQ(fileCount(), 1);
}

struct BadRecipe {
  const char* text;
  const char* says;
};

TEST_F(SceneVerbs, BadRecipesAreOneLineWithTheLocation) {
  const BadRecipe cases[] = {{"character = \"nowhere.glb\"", "nowhere.glb"},
                             {"character = \"cast:cow\"", "recipe.toml:1:13"},
                             {"character = \"cast:cat\"\nclip = \"jmup\"", "did you mean \"jump\""},
                             {"character = \"cast:cat\"\nfps = 0", "recipe.toml:2:7"},
                             {"character = \"cast:cat\"\nfps = nan", "recipe.toml:2:7"},
                             {"character = \"cast:cat\"\nrange_s = [90, 91]", "outside the clip"},
                             {"character = \"cast:cat\"\nfsp = 30", "did you mean \"fps\""},
                             {"character = \"cast:cat\"\n[[layer]]\ntype = \"blubber\"", "blubber"},
                             {"character = ", "recipe.toml:1"},
                             {"", "no character"}};
  for (const BadRecipe& bad : cases) {
    const Outcome o = derm({"bake", recipe(bad.text), "-o", folder_ / "a.glb"});
    EXPECT_EQ(o.exit_code, 1) << bad.text;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_NE(o.err.find(bad.says), std::string::npos) << o.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "a.glb"));
  }
}

TEST_F(SceneVerbs, AMillionLayersAreRefusedQuickly) {
  std::string text = "character = \"cast:cylinder\"\n";
  for (int i = 0; i < 1000000; ++i) text += "[[layer]]\n";
  const Outcome o = derm({"bake", recipe(text), "-o", folder_ / "a.glb"});
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_LT(o.err.size(), 300u);
}

TEST_F(SceneVerbs, BadArgumentsExitWithTwoBeforeAnyWork) {
  const std::string input = recipe();
  const std::string out = folder_ / "a.glb";
  EXPECT_EQ(derm({"bake", input}).exit_code, 2);
  EXPECT_EQ(derm({"bake", input, "-o", folder_ / "a.xyz"}).exit_code, 2);
  EXPECT_EQ(derm({"bake", input, "-o", out, "--shapes", "4"}).exit_code, 2);
  EXPECT_EQ(derm({"bake", input, "-o", out, "--as", "correctives", "--shapes", "0"}).exit_code, 2);
  EXPECT_EQ(derm({"bake", input, "-o", out, "--as", "correctives", "--error-mm", "nan"}).exit_code,
            2);
  EXPECT_EQ(derm({"bake", input, "-o", out, "--recipe", input}).exit_code, 2);
  EXPECT_EQ(derm({"bake", "cast:cat", "-o", folder_ / "a.pc2", "--as", "correctives"}).exit_code,
            2);
  EXPECT_EQ(derm({"render", input}).exit_code, 2);
  EXPECT_EQ(derm({"render", input, "-o", folder_ / "a.jpg"}).exit_code, 2);
  EXPECT_EQ(derm({"render", input, "-o", folder_ / "a.png", "--size", "wide"}).exit_code, 2);
  EXPECT_EQ(derm({"render", input, "-o", folder_ / "a.png", "--time", "nan"}).exit_code, 2);
  EXPECT_EQ(derm({"render", input, "--film", folder_ / "a.avi"}).exit_code, 2);
  EXPECT_EQ(fileCount(), 1);
}

TEST_F(SceneVerbs, WhatARecipeNamesIsNotWrittenOver) {
  const std::string character = folder_ / "c.glb";  // by derm, which may replace its own otherwise
  ASSERT_EQ(derm({"cast", "cylinder", "-o", character}).exit_code, 0);
  const std::string before = contentOf(character);
  const std::string input = recipe("character = \"c.glb\"\n");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"bake", input, "--force", "-o", character},
                                             {"volume", input, "-o", character},
                                             {"volume", input, "-o", input},
                                             {"wrinkles", "map", input, "-o", character},
                                             {"wrinkles", "map", input, "-o", input}}) {
    const Outcome o = derm(words);
    EXPECT_EQ(o.exit_code, 2) << words[0] << ": " << o.err;
  }
  EXPECT_EQ(contentOf(character), before);
  EXPECT_EQ(contentOf(input), "character = \"c.glb\"\n");
}

TEST_F(SceneVerbs, ACharacterWithoutSkinIsBakedAsItIs) {
  ASSERT_EQ(derm({"pose", "cast:cylinder", "--time", "0", "-o", folder_ / "bare.obj"}).exit_code,
            0);
  const Outcome o = derm({"bake", folder_ / "bare.obj", "-o", folder_ / "bare.pc2"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("1 frame "), std::string::npos) << o.out;
}

TEST_F(SceneVerbs, PicturesStripsAndFilmsAreWritten) {
  if (!canRender()) GTEST_SKIP() << "no OpenGL 4.5 here";
  const std::string input = recipe();
  const Outcome still = derm({"render", input, "--time", "0.5", "--skeleton", "--size", "160x90",
                              "-o", folder_ / "a.png"});
  EXPECT_EQ(still.exit_code, 0) << still.err;
  EXPECT_TRUE(contentOf(folder_ / "a.png").starts_with("\x89PNG"));
  const Outcome late =
      derm({"render", input, "--time", "99", "--size", "32x32", "-o", folder_ / "late.png"});
  EXPECT_EQ(late.exit_code, 0);
  EXPECT_NE(late.err.find("outside the range (0 to 2 s)"), std::string::npos) << late.err;
  EXPECT_EQ(derm({"render", input, "--quick", "-o", folder_ / "q.png"}).exit_code, 0);
  EXPECT_EQ(derm({"render", input, "--strip", "3", "--size", "240x80", "-o", folder_ / "s.png"})
                .exit_code,
            0);
  const Outcome film = derm({"render", input, "--fps", "10", "--range", "0", "0.4", "--size",
                             "64x48", "--compare", "ghost", "--film", folder_ / "f.mp4"});
  EXPECT_EQ(film.exit_code, 0) << film.err;
  EXPECT_NE(film.out.find("5 frames"), std::string::npos) << film.out;
}

constexpr const char* kBelly =
    "character = \"cast:cat\"\nclip = \"jump\"\n[[layer]]\ntype = \"flesh\"\nname = \"belly\"\n"
    "dominant = \"spine_1\"\nends = [\"spine_5\"]\n[[layer]]\ntype = \"volume\"\n";

TEST_F(SceneVerbs, AnUnknownChannelIsAnErrorThatListsWhatLayersWrite) {
  const std::string input = recipe(kBelly);
  const std::vector<std::vector<std::string>> asked = {
      {"render", input, "--channel", "zz", "-o", folder_ / "a.png"},
      {"bake", input, "--channel", "zz", "-o", folder_ / "a.glb"}};
  for (const std::vector<std::string>& arguments : asked) {
    const Outcome o = derm(arguments);
    EXPECT_EQ(o.exit_code, 2);
    EXPECT_NE(o.err.find("no layer writes a channel \"zz\"; there are \"belly\", \"volume\""),
              std::string::npos)
        << o.err;
  }
}

TEST_F(SceneVerbs, ChannelsAreShownAndWrittenIntoStills) {
  const std::string input = recipe(kBelly);
  const Outcome baked = derm({"bake", input, "--range", "0.6", "0.6", "--channel", "belly",
                              "--channel", "volume", "-o", folder_ / "a.glb"});
  EXPECT_EQ(baked.exit_code, 0) << baked.err;
  const Outcome info = derm({"info", folder_ / "a.glb"});
  for (const char* name : {"\"belly\", ", "\"volume\", "})
    EXPECT_NE(info.out.find(name), std::string::npos) << info.out;
  if (!canRender()) GTEST_SKIP() << "no OpenGL 4.5 here";
  const Outcome still = derm({"render", input, "--time", "0.5", "--channel", "belly", "--size",
                              "160x90", "-o", folder_ / "a.png"});
  EXPECT_EQ(still.exit_code, 0) << still.err;
  EXPECT_EQ(derm({"render", "cast:arm", "--channel", "volume", "--channel-max", "0.5", "--size",
                  "32x32", "-o", folder_ / "b.png"})
                .exit_code,
            0);
}

TEST_F(SceneVerbs, ShapesAreHeldInPictures) {
  const std::string head = folder_ / "head52.glb";
  ASSERT_EQ(derm({"face", "shapes", "cast:head-a", "-o", head}).exit_code, 0);
  const auto render = [&](const std::vector<std::string>& more, const char* file) {
    std::vector<std::string> all = {"render", head, "--size", "96x96", "-o", folder_ / file};
    all.insert(all.end(), more.begin(), more.end());
    return derm(all);
  };
  const Outcome unknown = render({"--shape", "jawOpened"}, "x.png");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("jawOpen"), std::string::npos) << unknown.err;
  EXPECT_EQ(render({"--shape", "jawOpen=wide"}, "x.png").exit_code, 2);
  const Outcome none = derm({"render", "cast:arm", "--shape", "jawOpen", "-o", folder_ / "x.png"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("has no shapes"), std::string::npos) << none.err;
  if (!canRender()) GTEST_SKIP() << "no OpenGL 4.5 here";
  ASSERT_EQ(render({}, "rest.png").exit_code, 0);
  ASSERT_EQ(render({"--shape", "jawOpen=0"}, "shut.png").exit_code, 0);
  ASSERT_EQ(render({"--shape", "jawOpen"}, "open.png").exit_code, 0);
  EXPECT_EQ(contentOf(folder_ / "rest.png"), contentOf(folder_ / "shut.png"));
  EXPECT_NE(contentOf(folder_ / "rest.png"), contentOf(folder_ / "open.png"));
}

TEST_F(SceneVerbs, TheDemoWritesAllThatItsPageShows) {
  if (!canRender()) GTEST_SKIP() << "no OpenGL 4.5 here";
  const Outcome o = derm({"demo", "-o", folder_ / "demo"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const std::string page = contentOf(folder_ / "demo/index.html");
  for (const char* file : {"cat.toml", "cat.glb", "strip.png", "curves.svg", "report.json"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_ / ("demo/" + std::string(file)))) << file;
    EXPECT_NE(page.find(file), std::string::npos) << file;
  }
  EXPECT_NE(page.find("cat.mp4"), std::string::npos);
  // What a stranger sees first: a scene with a plain difference, playable in any browser.
  EXPECT_LT(page.find("id=\"player\""), page.find("twist.mp4"));
  EXPECT_LT(page.find("twist.mp4"), page.find("cat.mp4"));
  EXPECT_EQ(page.find("src=\"http"), std::string::npos);
  EXPECT_NE(page.find("largest change of volume, the glTF as played"), std::string::npos);
  EXPECT_NE(page.find("largest error of the glTF, between frames"), std::string::npos);
  EXPECT_NE(o.out.find("index.html"), std::string::npos);
}

TEST(RenderVerb, ShowsWhatLayersMakeOfTheSurface) {
  if (!canRender()) GTEST_SKIP() << "no OpenGL 4.5 here";
  const Folder folder;
  std::vector<std::string> pictures;
  for (const char* what : {"gamma", "weights", "correction", "channel:volume"}) {
    const std::string file = folder / ("p" + std::to_string(pictures.size()) + ".png");
    const Outcome o = derm({"render", "cast:arm", "--clip", "flex", "--time", "1", "--show", what,
                            "--size", "160x120", "-o", file});
    EXPECT_EQ(o.exit_code, 0) << what << o.err;
    pictures.push_back(contentOf(file));
  }
  EXPECT_EQ(pictures[0], pictures[3]) << "gamma is the volume layer's channel";
  EXPECT_NE(pictures[0], pictures[1]);
  EXPECT_NE(pictures[1], pictures[2]);
  const Outcome none = derm({"render", "cast:arm", "--show", "flesh", "-o", folder / "f.png"});
  EXPECT_EQ(none.exit_code, 2) << none.err;
  EXPECT_NE(none.err.find("no flesh layer"), std::string::npos) << none.err;
  const Outcome odd = derm({"render", "cast:arm", "--show", "gama", "-o", folder / "f.png"});
  EXPECT_EQ(odd.exit_code, 2);
  EXPECT_NE(odd.err.find("\"gamma\""), std::string::npos) << odd.err;
}

TEST(CastVerb, MakesACylinderOfOnesOwn) {
  const Folder folder;
  const Outcome o = derm({"cast", "cylinder", "--rings", "9", "--sectors", "12", "--length", "2",
                          "--radius", "0.5", "--weights", "axis", "-o", folder / "c.glb"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const Outcome info = derm({"info", folder / "c.glb", "--json"});
  ASSERT_EQ(info.exit_code, 0) << info.err;
  EXPECT_NE(info.out.find("110"), std::string::npos) << "9 x 12 and two cap centres: " << info.out;
  EXPECT_EQ(derm({"cast", "cat", "--rings", "9", "-o", folder / "d.glb"}).exit_code, 2);
  EXPECT_EQ(derm({"cast", "cylinder", "--rings", "1", "-o", folder / "d.glb"}).exit_code, 2);
}

}  // namespace
}  // namespace derm::cli_test::scene_verbs_test
