#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run_program.h"

namespace derm::cli_test::verbs_test {
namespace {

std::ptrdiff_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(Cli, HelpOfEveryVerbHasAnExample) {
  EXPECT_EQ(derm({"--help"}).exit_code, 0);
  for (const char* verb : {"demo", "info", "check", "cast", "weights", "pose", "bake", "plot",
                           "render", "flesh", "volume", "wrinkles"}) {
    const Outcome o = derm({verb, "--help"});
    EXPECT_EQ(o.exit_code, 0) << verb;
    EXPECT_NE(o.out.find(std::string("derm ") + verb), std::string::npos) << verb;
    EXPECT_NE(o.out.find("--threads"), std::string::npos) << verb;
  }
}

TEST(Cli, BadArgumentsExitWithTwo) {
  EXPECT_EQ(derm({}).exit_code, 2);
  EXPECT_EQ(derm({"swim"}).exit_code, 2);
  EXPECT_EQ(derm({"info"}).exit_code, 2);
  EXPECT_EQ(derm({"info", "cast:cylinder", "--threads", "0"}).exit_code, 2);
  EXPECT_EQ(derm({"info", "cast:cylinder"}, {"DERM_THREADS=many"}).exit_code, 2);
  EXPECT_EQ(derm({"info", "cast:cylinder", "--unit", "parsec"}).exit_code, 2);
  EXPECT_EQ(derm({"cast", "cat"}).exit_code, 2);
  EXPECT_EQ(derm({"cast", "cylinder", "-o", "x.png"}).exit_code, 2);
  EXPECT_EQ(derm({"pose", "cast:cylinder", "--time", "nan", "-o", "x.obj"}).exit_code, 2);
  EXPECT_EQ(derm({"pose", "cast:cylinder", "--method", "magic", "-o", "x.obj"}).exit_code, 2);
  EXPECT_EQ(derm({"weights", "cast:cylinder", "--method", "magic", "-o", "x.glb"}).exit_code, 2);
  EXPECT_EQ(derm({"weights", "cast:cylinder", "--max-influences", "0", "-o", "x.glb"}).exit_code,
            2);
}

TEST(Cli, MistypedOptionsGetAGuess) {
  const Outcome o = derm({"bake", "cast:cat", "--metod", "centre", "-o", "x.pc2"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_NE(o.err.find("did you mean \"--method\""), std::string::npos) << o.err;
  const auto said = [](const std::vector<std::string>& words) { return derm(words).err; };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  // What is missing because of it is not what is wrong.
  for (const char* verb : {"bake", "auto", "pose", "weights"}) {
    const std::string text = said({verb, "cast:cat", "--ouput", "x.glb"});
    EXPECT_TRUE(has(text, "no option \"--ouput\"; did you mean \"--output\"?")) << text;
    EXPECT_FALSE(has(text, "required")) << text;
  }
  EXPECT_TRUE(has(said({"info", "--unti", "cm"}), "did you mean \"--unit\""));
  // A letter is no guess for a word, nor is what the option was given.
  for (const char* word : {"--widht", "--nonsense", "--jump=x"}) {
    const std::string text = said({"info", "cast:cat", word, "20"});
    EXPECT_TRUE(has(text, "no option \"--")) << text;
    EXPECT_FALSE(has(text, "did you mean")) << text;
    EXPECT_FALSE(has(text, "20")) << text;
  }
  // What is read correctly and wrong in another way is told as before.
  EXPECT_TRUE(has(said({"pose", "cast:cat", "--time", "-x", "-o", "x.obj"}), "--time"));
}

TEST(Cli, MistypedVerbsBelowVerbsGetAGuess) {
  const Outcome o = derm({"wrinkles", "aut", "cast:cat", "-o", "x.toml"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_NE(o.err.find("no verb \"aut\"; did you mean \"auto\""), std::string::npos) << o.err;
  EXPECT_NE(derm({"face", "rgi"}).err.find("\"rig\""), std::string::npos);
}

TEST(Cli, ErrorsAreColouredOnTerminalsThatWantIt) {
  const std::vector<std::string> wrong = {"info", "no-such-file.glb"};
  const auto coloured = [](const std::string& text) {
    EXPECT_NE(text.find("no-such-file.glb"), std::string::npos) << text;
    return text.find('\033') != std::string::npos;
  };
  EXPECT_TRUE(coloured(shownOnTerminal(wrong, {"TERM=xterm", "NO_COLOR="})));
  EXPECT_FALSE(coloured(shownOnTerminal(wrong, {"TERM=xterm", "NO_COLOR=1"})));
  EXPECT_FALSE(coloured(shownOnTerminal(wrong, {"TERM=dumb", "NO_COLOR="})));
  EXPECT_FALSE(coloured(derm(wrong, {"TERM=xterm", "NO_COLOR="}).err));
}

TEST(Cli, LongWorkShowsOnTerminalsHowLongItWillTake) {
  const Folder folder;
  std::vector<std::string> work = {"bake",        "cast:cat",   "--clip", "all", "--as",
                                   "correctives", "--error-mm", "0.1",    "-o",  folder / "c.glb",
                                   "--threads",   "1",          "--fps",  "120"};
  const std::vector<std::string> terminal = {"TERM=xterm", "NO_COLOR=1"};
  EXPECT_NE(shownOnTerminal(work, terminal).find(" s left"), std::string::npos);
  EXPECT_EQ(shownOnTerminal({"bake", "cast:cat", "-o", folder / "c.pc2", "-q"}, terminal), "");
}

TEST(Cli, ADashIsStandardOutputForTextAndJsonHoldsIt) {
  const Folder folder;
  const std::string cache = folder / "c.pc2";
  const std::vector<std::string> bake = {"bake", "cast:cylinder", "--range", "0",        "0.1",
                                         "-o",   cache,           "--force", "--report", "-"};
  const Outcome report = derm(bake);
  ASSERT_EQ(report.exit_code, 0) << report.err;
  const auto frames = nlohmann::json::parse(report.out)["frames"];
  EXPECT_GT(frames.size(), 3u);
  EXPECT_FALSE(std::filesystem::exists("-"));
  std::vector<std::string> as_json = bake;
  as_json.push_back("--json");
  const auto answer = nlohmann::json::parse(derm(as_json).out);
  EXPECT_EQ(answer["frames"], frames);
  EXPECT_EQ(answer["outputs"], nlohmann::json({cache}));

  const Outcome recipe = derm({"flesh", "auto", "cast:cat", "-o", "-"});
  const auto wrapped =
      nlohmann::json::parse(derm({"flesh", "auto", "cast:cat", "-o", "-", "--json"}).out);
  EXPECT_EQ(wrapped["text"], recipe.out);
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"man"}, std::vector<std::string>{"completion", "fish"}}) {
    std::vector<std::string> asked = verb;
    asked.push_back("--json");
    EXPECT_EQ(nlohmann::json::parse(derm(asked).out)["text"], derm(verb).out) << verb[0];
  }
}

TEST(Cli, BakesTellInJsonWhatTheyMade) {
  const Folder folder;
  const Outcome o = derm({"bake", "cast:cat", "--clip", "run", "--as", "correctives", "--shapes",
                          "2", "-o", folder / "c.glb", "--json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const auto answer = nlohmann::json::parse(o.out);
  EXPECT_LE(answer["correctives"]["shapes"], 2);
  EXPECT_GT(answer["correctives"]["max_error_mm"], 0);
  EXPECT_EQ(answer["vertices"], 1415);
  EXPECT_FALSE(answer.contains("frames"));
  EXPECT_FALSE(answer.contains("closed"));  // nobody measured
}

TEST(Cli, AnEmptyClipIsTheRestPoseForEveryVerbThatPlaysOne) {
  const Folder folder;
  EXPECT_EQ(derm({"bake", "cast:cat", "--clip", "", "-o", folder / "r.pc2"}).exit_code, 0);
  const Outcome o = derm({"bake", "cast:cat", "--clip", "", "--json", "-o", folder / "r.mdd"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_EQ(nlohmann::json::parse(o.out)["frame_count"], 1);
  EXPECT_EQ(derm({"render", "cast:cat", "--clip", "", "--quick", "--size", "64x64", "-o",
                  folder / "r.png"})
                .exit_code,
            0);
}

TEST(Cli, TheLeastSqueezeHasARangeThatFoldsCanHave) {
  const Folder folder;
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"wrinkles", "auto"}, std::vector<std::string>{"auto"}}) {
    std::vector<std::string> words = verb;
    for (const std::string& word : {std::string("cast:arm"), std::string("--min-squeeze"),
                                    std::string("0.9"), std::string("-o"), folder / "x.toml"})
      words.push_back(word);
    const Outcome o = derm(words);
    EXPECT_EQ(o.exit_code, 2);
    EXPECT_NE(o.err.find("--min-squeeze"), std::string::npos) << o.err;
    EXPECT_EQ(o.err.find("max_squeeze"), std::string::npos) << o.err;
  }
}

TEST(Cli, QuietAndJsonMayStandBeforeTheVerb) {
  const Outcome o = derm({"--json", "info", "cast:cylinder"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_TRUE(nlohmann::json::parse(o.out).contains("clips"));
  EXPECT_EQ(derm({"-q", "--json"}).exit_code, 2);
}

TEST(Cli, HelpIsAVerbToo) {
  EXPECT_EQ(derm({"help"}).out, derm({"--help"}).out);
  EXPECT_EQ(derm({"help", "face", "rig"}).out, derm({"face", "rig", "--help"}).out);
  EXPECT_EQ(derm({"help", "face", "rig"}).exit_code, 0);
}

TEST(Cli, ErrorsAreJsonWhereThatIsWanted) {
  const Outcome bad = derm({"info", "no/such.glb", "--json"});
  EXPECT_EQ(bad.exit_code, 1);
  const auto error = nlohmann::json::parse(bad.out)["error"];
  EXPECT_EQ(error["code"], "cannot-read");
  EXPECT_EQ(error["file"], "no/such.glb");
  const Outcome wrong = derm({"info", "--json", "--nonsense"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(nlohmann::json::parse(wrong.out)["error"]["code"], "bad-argument");
}

TEST(Cli, InfoAndCheckTakeRecipes) {
  const Folder folder;
  const std::string recipe = folder / "cat.toml";
  write(recipe, "character = \"cast:cat\"\nclip = \"jump\"\n[[layer]]\ntype = \"volume\"\n");
  const auto info = nlohmann::json::parse(derm({"info", recipe, "--json"}).out);
  EXPECT_EQ(info["recipe"]["layers"][0]["type"], "volume");
  EXPECT_EQ(info["file"], "cast:cat");
  EXPECT_EQ(derm({"check", recipe, "--strict"}).exit_code, 0);
  write(recipe, "character = \"cast:cat\"\nclip = \"jmp\"\n");
  const Outcome o = derm({"check", recipe, "--json"});
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(o.out)["readable"], false);
}

TEST(Cli, UnknownVertexGroupsOfARecipeAreNamedWithTheirLine) {
  const Folder folder;
  const std::string recipe = folder / "r.toml", head = "character = \"cast:cat\"\n[[layer]]\n";
  for (const char* layer :
       {"type = \"volume\"\nfixed = \"group:nope\"\n", "type = \"volume\"\nregions = [\"nope\"]\n",
        "type = \"volume\"\nmask = \"group:nope\"\n",
        "type = \"flesh\"\nvertices = \"group:nope\"\ndominant = \"spine_1\"\nends = "
        "[\"spine_5\"]\n"}) {
    write(recipe, head + layer);
    const Outcome o = derm({"check", recipe});
    EXPECT_EQ(o.exit_code, 1) << o.err;
    EXPECT_NE(o.err.find("r.toml:4:"), std::string::npos) << o.err;
  }
}

TEST(Cli, CompletionAndManualKnowEveryVerb) {
  for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{
           {"completion", "bash"}, {"completion", "zsh"}, {"completion", "fish"}, {"man"}}) {
    const Outcome o = derm(verb);
    ASSERT_EQ(o.exit_code, 0) << o.err;
    std::string text = o.out;
    std::erase(text, '\\');  // roff writes \-
    for (const char* word : {"bake", "face retarget", "max-folds", "wrinkles auto"})
      EXPECT_NE(text.find(word), std::string::npos) << verb[0] << ": " << word;
  }
  const Folder folder;
  write(folder / "derm.bash", derm({"completion", "bash"}).out +
                                  "COMP_WORDS=(derm face r); COMP_CWORD=2; _derm\n"
                                  "echo ${COMPREPLY[@]}\n");
  EXPECT_EQ(std::system(("bash " + (folder / "derm.bash") + " | grep -q 'retarget'").c_str()), 0);
}

TEST(Cli, FrameInANameThatIsForOneFileIsAnError) {
  const Folder folder;
  const std::string out = folder / "{frame}.glb";
  for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{
           {"bake", "cast:cylinder", "--range", "0", "0.1"},
           {"bake", "cast:cylinder", "--range", "0", "0.1", "--as", "correctives"},
           {"pose", "cast:cylinder"},
           {"weights", "cast:cylinder"},
           {"cast", "cylinder"}}) {
    std::vector<std::string> all = verb;
    all.insert(all.end(), {"-o", out});
    const Outcome o = derm(all);
    EXPECT_EQ(o.exit_code, 2) << verb[0];
    EXPECT_NE(o.err.find("{frame}"), std::string::npos) << o.err;
    EXPECT_FALSE(std::filesystem::exists(out)) << verb[0];
  }
  EXPECT_EQ(derm({"bake", "cast:cylinder", "--range", "0", "0.1", "-o", folder / "{frame}.pc2"})
                .exit_code,
            2);
  EXPECT_EQ(derm({"bake", "cast:cylinder", "--range", "0", "0.1", "-o", folder / "{frame}.obj"})
                .exit_code,
            0);
}

TEST(Cli, SequencesOfOthersAreReplacedByForceAlone) {
  const Folder folder;
  write(folder / "f_0.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  write(folder / "f_note.obj", "v 0 0 0\n");  // no file of the sequence
  const std::vector<std::string> bake = {"bake", "cast:cylinder", "--range", "0", "0.1", "-o"};
  const auto baked = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> all = bake;
    all.insert(all.end(), more);
    return derm(all);
  };
  const Outcome refused = baked({folder / "f_{frame}.obj"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("f_0.obj: exists and was not written by derm"), std::string::npos)
      << refused.err;
  EXPECT_EQ(baked({folder / "f_{frame}.obj", "--force"}).exit_code, 0);
  // Its own it may replace.
  EXPECT_EQ(baked({folder / "g_{frame}.obj"}).exit_code, 0);
  EXPECT_EQ(baked({folder / "g_{frame}.obj"}).exit_code, 0);
}

TEST(Cli, WrinklesProposesARecipeThatCanBeBaked) {
  const Folder folder;
  const std::string recipe = folder / "arm.toml";
  const Outcome found = derm(
      {"wrinkles", "auto", "cast:arm", "--clip", "flex", "--most", "2", "--json", "-o", recipe});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const auto list = nlohmann::json::parse(found.out);
  ASSERT_EQ(list["tools"].size(), 2u);
  const std::string joint = list["tools"][0]["joint"];
  EXPECT_TRUE(joint == "forearm" || joint == "upper_arm") << joint << ": the elbow's crease";
  EXPECT_GT(list["tools"][0]["squeeze"], 0.3);
  const Outcome baked = derm({"bake", recipe, "--fps", "4", "-o", folder / "arm.glb"});
  EXPECT_EQ(baked.exit_code, 0) << baked.err;
}

TEST(Cli, ProposalsTakeAMotionFromAnotherFileAndRememberIt) {
  const Folder folder;
  const std::string recipe = folder / "arm.toml";
  write(folder / "names.txt", "upper_arm = upper_arm\nforearm = forearm\nhand = hand\n");
  for (const char* verb : {"flesh", "wrinkles"}) {
    const Outcome found = derm({verb, "auto", "cast:arm", "--motion", "cast:arm", "--map",
                                folder / "names.txt", "--force", "-o", recipe});
    ASSERT_EQ(found.exit_code, 0) << found.err;
    EXPECT_NE(contentOf(recipe).find("motion = \"cast:arm\"\nmotion_map = \"names.txt\"\n"),
              std::string::npos)
        << contentOf(recipe);
    // Played from the recipe alone it is what --motion gives.
    ASSERT_EQ(derm({"bake", recipe, "--fps", "4", "-o", folder / "a.pc2"}).exit_code, 0);
    ASSERT_EQ(derm({"bake", recipe, "--motion", "cast:arm", "--map", folder / "names.txt", "--fps",
                    "4", "-o", folder / "b.pc2"})
                  .exit_code,
              0);
    EXPECT_TRUE(contentOf(folder / "a.pc2") == contentOf(folder / "b.pc2")) << verb;
  }
}

TEST(Cli, InfoListsJointsAsATree) {
  const Outcome tree = derm({"info", "cast:arm", "--joints"});
  EXPECT_EQ(tree.exit_code, 0);
  EXPECT_NE(tree.out.find("\n\"upper_arm\"\n  \"forearm\"\n    \"forearm_twist\"\n"),
            std::string::npos)
      << tree.out;
  const auto json = nlohmann::json::parse(derm({"info", "cast:arm", "--json"}).out);
  ASSERT_EQ(json["skeleton"].size(), 19u);
  EXPECT_TRUE(json["skeleton"][0]["parent"].is_null());
  EXPECT_EQ(json["skeleton"][1]["name"], "forearm");
  EXPECT_EQ(json["skeleton"][1]["parent"], 0);
}

TEST(Cli, WrinklesSaysWhatIsWrong) {
  const Folder folder;
  EXPECT_EQ(derm({"wrinkles"}).exit_code, 2);
  EXPECT_EQ(derm({"wrinkles", "auto", "cast:arm"}).exit_code, 2);
  EXPECT_EQ(
      derm({"wrinkles", "auto", "cast:arm", "--least", "2", "-o", folder / "x.toml"}).exit_code, 2);
  const Outcome clip =
      derm({"wrinkles", "auto", "cast:arm", "--clip", "flx", "-o", folder / "x.toml"});
  EXPECT_EQ(clip.exit_code, 2);
  EXPECT_NE(clip.err.find("flex"), std::string::npos) << clip.err;
  const Outcome map = derm({"wrinkles", "map", "cast:arm", "-o", folder / "x.png"});
  EXPECT_EQ(map.exit_code, 1);
  EXPECT_NE(map.err.find("no texture coordinates"), std::string::npos) << map.err;
  EXPECT_EQ(
      derm({"wrinkles", "auto", "cast:arm", "-o", folder / "no/such/folder/x.toml"}).exit_code, 3);
}

TEST(Cli, MissingNamesListTheNearest) {
  const Folder folder;
  const Outcome clip = derm({"pose", "cast:cylinder", "--clip", "bned", "-o", folder / "x.obj"});
  EXPECT_EQ(clip.exit_code, 2);
  EXPECT_NE(clip.err.find("did you mean \"bend\""), std::string::npos) << clip.err;
  const Outcome member = derm({"info", "cast:cylindre"});
  EXPECT_EQ(member.exit_code, 2);
  EXPECT_NE(member.err.find("cylinder"), std::string::npos) << member.err;
  EXPECT_EQ(lines(member.err), 1);
}

TEST(Cli, AWrongOptionExitsWithTwoAndIsCalledAsItWasTyped) {
  const Folder folder;
  const std::vector<std::pair<std::vector<std::string>, std::string>> slips = {
      {{"rendr", "cast:arm"}, "\"render\""},
      {{"volume", "cast:cylinder", "--clip", "7"}, "--clip"},
      {{"bake", "cast:cylinder", "--range", "50", "60", "-o", folder / "x.pc2"}, "--range"},
      {{"render", "cast:arm", "--look-at", "hed", "-o", folder / "x.png"}, "\"hand\""},
      {{"weights", "cast:arm", "--smooth", "1001", "-o", folder / "x.glb"}, "--smooth"}};
  for (const auto& [words, named] : slips) {
    const Outcome o = derm(words);
    EXPECT_EQ(o.exit_code, 2) << words[0] << o.err;
    EXPECT_NE(o.err.find(named), std::string::npos) << o.err;
  }
}

TEST(Cli, ComparisonsOfABareCharacterShowWhatDermDoes) {
  const Folder folder;
  const Outcome bare = derm({"bake", "cast:cylinder", "--clip", "bend", "--fps", "2", "--as",
                             "correctives", "-o", folder / "bare.glb"});
  EXPECT_EQ(bare.exit_code, 0) << bare.err;
  EXPECT_EQ(bare.out.find("\n0 corrective shapes"), std::string::npos) << bare.out;
  EXPECT_EQ(bare.err, "");
  write(folder / "none.toml", "character = \"cast:cylinder\"\nfps = 2\n");
  const Outcome none =
      derm({"bake", folder / "none.toml", "--as", "correctives", "-o", folder / "none.glb"});
  EXPECT_EQ(none.exit_code, 0) << none.err;
  EXPECT_NE(none.err.find("nothing to show"), std::string::npos) << none.err;
}

TEST(Cli, NumbersThatAreNoneAreRefused) {
  const Folder folder;
  for (const char* option : {"--zoom", "--yaw", "--fps", "--field-scale"}) {
    const Outcome o = derm({"render", "cast:cylinder-m258", option, "nan", "-o", folder / "x.png"});
    EXPECT_EQ(o.exit_code, 2) << option << o.err;
    EXPECT_NE(o.err.find(option), std::string::npos) << o.err;
  }
  EXPECT_EQ(derm({"bake", "cast:cylinder-m258", "--fps", "+1", "-o", folder / "x.pc2"}).exit_code,
            0)
      << "a plus is part of a number";
  for (const char* seconds : {"-1", "0", "nan", "1e300"})
    EXPECT_EQ(derm({"implicit", "particles", "cast:drop", "--seconds", seconds, "-o",
                    folder / "x_{frame}.ply"})
                  .exit_code,
              2)
        << seconds;
}

TEST(Cli, OneFileIsNotWrittenTwiceAndNothingBeforeAllCanBe) {
  const Folder folder;
  const std::string same = folder / "same.svg";
  const Outcome twice =
      derm({"volume", "cast:cylinder-m258", "--fps", "1", "-o", same, "--plot", same});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_NE(twice.err.find("same.svg"), std::string::npos) << twice.err;
  const Outcome late = derm({"bake", "cast:cylinder-m258", "--fps", "1", "-o", folder / "a.pc2",
                             "--plot", folder / "none/a.svg"});
  EXPECT_EQ(late.exit_code, 3) << late.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "a.pc2"));
  ASSERT_EQ(derm({"cast", "cylinder", "-o", folder / "c.glb"}).exit_code, 0);
  EXPECT_EQ(derm({"pose", folder / "c.glb", "-o", folder / "c.glb"}).exit_code, 2);
  EXPECT_EQ(derm({"flesh", "auto", folder / "c.glb", "-o", folder / "c.glb"}).exit_code, 2);
}

TEST(Cli, LiquidsAreInTheCast) {
  const Outcome list = derm({"cast", "--list"});
  EXPECT_NE(list.out.find("two-drops-merge"), std::string::npos) << list.out;
  const Outcome as_character = derm({"info", "cast:drop"});
  EXPECT_EQ(as_character.exit_code, 2);
  EXPECT_NE(as_character.err.find("implicit particles"), std::string::npos) << as_character.err;
}

TEST(Cli, BadDataExitsWithOneAndOneLineThatNamesTheFile) {
  const Folder folder;
  const std::string broken = folder / "broken.glb";
  write(broken, "glTF\2");
  for (const char* verb : {"info", "check"}) {
    const Outcome o = derm({verb, broken});
    EXPECT_EQ(o.exit_code, 1);
    EXPECT_NE(o.err.find("broken.glb"), std::string::npos);
    EXPECT_EQ(lines(o.err), 1) << o.err;
  }
  const Outcome missing = derm({"info", folder / "nowhere.obj"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("nowhere.obj"), std::string::npos);
  EXPECT_EQ(derm({"info", folder.path().string()}).exit_code, 1);
}

TEST(Cli, InfoJsonHasTheKeysMachinesRelyOn) {
  const Outcome o = derm({"info", "cast:cylinder", "--json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const nlohmann::json info = nlohmann::json::parse(o.out);
  EXPECT_EQ(info["vertices"], 627);
  EXPECT_EQ(info["triangles"], 1250);
  EXPECT_EQ(info["joints"], 3);
  EXPECT_EQ(info["influences_max"], 2);
  EXPECT_EQ(info["morph_targets"], 0);
  EXPECT_EQ(info["closed"], true);
  EXPECT_EQ(info["unit"], "m");
  EXPECT_NEAR(info["volume_m3"].get<double>(), 62.172471, 1e-4);
  EXPECT_NEAR(info["bounds_m"]["max"][2].get<double>(), 20, 1e-6);
  ASSERT_FALSE(info["clips"].empty());
  EXPECT_EQ(info["clips"][0]["name"], "bend");
  EXPECT_GT(info["clips"][0]["duration_s"].get<double>(), 0);
  EXPECT_TRUE(info["problems"].is_array());
}

TEST(Cli, InfoKeepsControlCharactersFromTheTerminal) {
  const Folder folder;
  ASSERT_EQ(derm({"cast", "cylinder", "-o", folder / "c.gltf"}).exit_code, 0);
  nlohmann::json file = nlohmann::json::parse(std::ifstream(folder / "c.gltf"));
  file["meshes"][0]["primitives"][0]["extras"]["derm_points"] = {
      {{"label", "a\x1b[31mb\nc\x7f"}, {"triangle", 7}, {"weights", {0, 1, 0}}}};
  std::ofstream(folder / "c.gltf") << file.dump();
  const Outcome text = derm({"info", folder / "c.gltf"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("1: \"a [31mb c \"\n"), std::string::npos) << text.out;
}

TEST(Cli, InfoShowsLabelledPointsAndDetailMaps) {
  const Folder folder;
  ASSERT_EQ(derm({"cast", "cylinder", "-o", folder / "c.gltf"}).exit_code, 0);
  nlohmann::json file = nlohmann::json::parse(std::ifstream(folder / "c.gltf"));
  file["meshes"][0]["primitives"][0]["extras"]["derm_points"] = {
      {{"label", "tip"}, {"triangle", 7}, {"weights", {0, 1, 0}}},
      {{"label", "root"}, {"triangle", 3}, {"weights", {0.5, 0.25, 0.25}}},
      {{"label", "lost"}, {"triangle", 99999}, {"weights", {1, 0, 0}}}};
  file["images"] = {{{"name", "folds"}, {"uri", "data:image/png;base64,iVBORw=="}}};
  file["textures"] = {{{"source", 0}}};
  file["materials"] = {
      {{"name", "skin"},
       {"extras",
        {{"derm_detail_maps", {{{"index", 0}, {"strength", 0.5}, {"control", "bend"}}}}}}}};
  std::ofstream(folder / "c.gltf") << file.dump();
  const Outcome text = derm({"info", folder / "c.gltf"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("points       2: \"tip\", \"root\"\n"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("detail maps  \"folds\" on material \"skin\", strength 0.5, by control "
                          "\"bend\"\n"),
            std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("a labelled point is malformed"), std::string::npos) << text.out;
  const nlohmann::json info =
      nlohmann::json::parse(derm({"info", folder / "c.gltf", "--json"}).out);
  ASSERT_EQ(info["points"].size(), 2u);
  EXPECT_EQ(info["points"][0]["label"], "tip");
  EXPECT_EQ(info["points"][0]["triangle"], 7);
  EXPECT_EQ(info["points"][1]["barycentric"], (nlohmann::json{0.5, 0.25, 0.25}));
  EXPECT_EQ(info["points"][1]["position_m"].size(), 3u);
  ASSERT_EQ(info["detail_maps"].size(), 1u);
  EXPECT_EQ(info["detail_maps"][0]["strength"], 0.5);
  EXPECT_EQ(info["detail_maps"][0]["control"], "bend");
}

TEST(Cli, UnitScalesWhatIsRead) {
  const nlohmann::json info =
      nlohmann::json::parse(derm({"info", "cast:cylinder", "--json", "--unit", "cm"}).out);
  EXPECT_NEAR(info["bounds_m"]["max"][2].get<double>(), 0.2, 1e-7);
}

TEST(Cli, EveryCastMemberCanBeWrittenReadCheckedAndPosed) {
  const Folder folder;
  const Outcome list = derm({"cast", "--list", "--json"});
  ASSERT_EQ(list.exit_code, 0);
  for (const nlohmann::json& member : nlohmann::json::parse(list.out)) {
    const std::string name = member["name"];
    SCOPED_TRACE(name);
    if (member["kind"] == "liquid") continue;
    const std::string file = folder / (name + ".glb");
    ASSERT_EQ(derm({"cast", name, "-o", file}).exit_code, 0);
    const Outcome check = derm({"check", file, "--strict"});
    EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
    for (const char* method : {"rigid", "linear", "dual-quaternion"})
      EXPECT_EQ(derm({"pose", file, "--time", "0.3", "--method", method, "-o", folder / "p.obj"})
                    .exit_code,
                0);
  }
}

TEST(Cli, SameBytesForEveryThreadCount) {
  const Folder folder;
  const auto bytes = [&](const std::vector<std::string>& how, const std::vector<std::string>& env) {
    const std::string file = folder / "out.glb";
    std::vector<std::string> arguments = {"pose", "cast:cat", "--clip",          "jump", "--time",
                                          "0.5",  "--method", "dual-quaternion", "-o",   file};
    arguments.insert(arguments.end(), how.begin(), how.end());
    EXPECT_EQ(derm(arguments, env).exit_code, 0);
    return contentOf(file);
  };
  const std::string one = bytes({"--threads", "1"}, {});
  EXPECT_GT(one.size(), 1000u);
  EXPECT_EQ(bytes({"--threads", "8"}, {}), one);
  EXPECT_EQ(bytes({}, {"DERM_THREADS=2"}), one);
}

TEST(Cli, AFailedWriteLeavesTheOldFileAndExitsWithThree) {
  if (::geteuid() == 0) {
    // root may write anywhere; a directory in the way is a failure for everyone.
    const Folder folder;
    std::filesystem::create_directory(folder / "taken.glb");
    EXPECT_EQ(derm({"cast", "cylinder", "-o", folder / "taken.glb"}).exit_code, 3);
    EXPECT_TRUE(std::filesystem::is_directory(folder / "taken.glb"));
  } else {
    const Folder folder;
    write(folder / "old.glb", "old");
    ::chmod(folder.path().c_str(), 0500);
    EXPECT_EQ(derm({"cast", "cylinder", "-o", folder / "old.glb"}).exit_code, 3);
    ::chmod(folder.path().c_str(), 0700);
    EXPECT_EQ(contentOf(folder / "old.glb"), "old");
  }
  EXPECT_EQ(derm({"cast", "cylinder", "-o", "/nowhere/at/all.glb"}).exit_code, 3);
}

TEST(Cli, AFullDiskLeavesTheOldFileAndExitsWithThree) {
  const Folder folder;
  const std::string file = folder / "old.glb";
  write(file, "old");
  // A limit on file size stands in for a full disk: writes beyond it fail the same way.
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  struct rlimit small = before;
  small.rlim_cur = 4096;
  std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Outcome o = derm({"cast", "cylinder", "--force", "-o", file});
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(o.exit_code, 3) << o.err;
  EXPECT_EQ(contentOf(file), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Cli, FleshAutoWritesARecipeThatWorks) {
  const Folder folder;
  const std::string cat = folder / "cat.glb", recipe = folder / "cat.toml";
  ASSERT_EQ(derm({"cast", "cat", "-o", cat}).exit_code, 0);
  const Outcome found = derm({"flesh", "auto", cat, "--clip", "run", "-o", recipe});
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_NE(found.out.find("belly"), std::string::npos) << found.out;
  // The character is named relative to the recipe, so both can be moved together.
  const Outcome baked = derm({"bake", recipe, "--range", "0", "0.1", "-o", folder / "cat.pc2"});
  EXPECT_EQ(baked.exit_code, 0) << baked.err;
  EXPECT_EQ(derm({"flesh"}).exit_code, 2);
  EXPECT_EQ(derm({"flesh", "auto", "cast:cat"}).exit_code, 2);
  EXPECT_EQ(derm({"flesh", "auto", "cast:kat", "-o", recipe}).exit_code, 2);
  EXPECT_EQ(derm({"flesh", "auto", "cast:cat", "--clip", "swim", "-o", recipe}).exit_code, 2);
  EXPECT_EQ(derm({"flesh", "auto", "cast:cat", "-o", "/no/such/folder/cat.toml"}).exit_code, 3);
  EXPECT_EQ(derm({"flesh", "auto", cat, "--threads", "1", "-o", recipe}).exit_code, 0);
}

/// A sheet that bends has no flesh: the recipe is written, and nobody has to guess why it is empty.
TEST(Cli, FleshAutoSaysWhereThereIsNothingToPropose) {
  const Folder folder;
  const std::string sheet = folder / "sheet.obj", glb = folder / "sheet.glb";
  write(sheet,
        "v -0.5 0 -5\nv 0.5 0 -5\nv -0.5 0 0\nv 0.5 0 0\nv -0.5 0 5\nv 0.5 0 5\n"
        "f 1 3 4 2\nf 3 5 6 4\n");
  ASSERT_EQ(derm({"weights", sheet, "--skeleton", "cast:cylinder", "--method", "linear", "-o", glb})
                .exit_code,
            0);
  const Outcome o = derm({"flesh", "auto", glb, "-o", folder / "sheet.toml"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.err.find("no bone has enough flesh"), std::string::npos) << o.err;
  EXPECT_EQ(contentOf(folder / "sheet.toml").find("[[layer]]"), std::string::npos);
}

TEST(Cli, ProposingAgainKeepsWhatPeopleWroteIntoTheRecipe) {
  const Folder folder;
  const std::string recipe = folder / "cat.toml";
  ASSERT_EQ(derm({"flesh", "auto", "cast:cat", "--clip", "run", "-o", recipe}).exit_code, 0);
  std::string text = "# Mine.\n" + contentOf(recipe) + "\n# The end.\n";
  const std::size_t layer = text.find("[[layer]]\n");
  ASSERT_NE(layer, std::string::npos);
  text.insert(layer, "# Too soft still.\n");
  write(recipe, text);
  EXPECT_EQ(derm({"flesh", "auto", "cast:cat", "--clip", "run", "-o", recipe}).exit_code, 2);
  EXPECT_EQ(contentOf(recipe), text);
  EXPECT_EQ(derm({"flesh", "auto", "cast:cat", "--clip", "run", "--add", "-o", recipe}).exit_code,
            0);
  EXPECT_EQ(contentOf(recipe), text);
}

TEST(Cli, WeightsGiveABareMeshASkinFromAnotherFilesSkeleton) {
  const Folder folder;
  ASSERT_EQ(derm({"cast", "cylinder", "-o", folder / "rig.glb"}).exit_code, 0);
  ASSERT_EQ(derm({"pose", "cast:cylinder", "--time", "0", "-o", folder / "bare.obj"}).exit_code, 0);
  const Outcome without = derm({"weights", folder / "bare.obj", "-o", folder / "no.glb"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_NE(without.err.find("--skeleton"), std::string::npos) << without.err;
  const Outcome o = derm(
      {"weights", folder / "bare.obj", "--skeleton", folder / "rig.glb", "-o", folder / "new.glb"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const nlohmann::json info =
      nlohmann::json::parse(derm({"info", folder / "new.glb", "--json"}).out);
  EXPECT_EQ(info["joints"], 2);  // the end joint had no weights in the rig either
  EXPECT_EQ(info["vertices"], 627);
}

TEST(Cli, WeightsWithoutASkeletonFail) {
  const Folder folder;
  // A mesh on a node of its own, and rigid parts on theirs: nothing that skin could follow.
  ASSERT_EQ(derm({"cast", "sphere", "-o", folder / "ball.glb"}).exit_code, 0);
  const Outcome o = derm({"weights", folder / "ball.glb", "-o", folder / "x.glb"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_NE(o.err.find("--skeleton"), std::string::npos) << o.err;
  const std::string node = folder / "node.gltf";
  write(node, R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],
    "nodes":[{"name":"hull","mesh":0,"children":[1]},{"name":"arm","mesh":0}],
    "meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
    "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3",
      "min":[0,0,0],"max":[1,1,0]}],
    "bufferViews":[{"buffer":0,"byteLength":36}],
    "buffers":[{"byteLength":36,"uri":"data:application/octet-stream;base64,)"
              "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}]}");
  ASSERT_EQ(derm({"check", node}).exit_code, 0);
  const Outcome rigid = derm({"weights", node, "-o", folder / "x.glb"});
  EXPECT_EQ(rigid.exit_code, 2) << rigid.err;
  EXPECT_NE(rigid.err.find("--skeleton"), std::string::npos) << rigid.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "x.glb"));
}

TEST(Cli, TheUnitOfAMeshIsNotThatOfTheSkeletonItIsGiven) {
  const Folder folder;
  const std::string rig = folder / "rig.glb", bare = folder / "bare.obj";
  ASSERT_EQ(derm({"cast", "cylinder", "-o", rig}).exit_code, 0);
  ASSERT_EQ(derm({"pose", "cast:cylinder", "--time", "0", "-o", bare}).exit_code, 0);
  std::string decimetres;  // the same shape, in numbers ten times as large
  std::istringstream lines_in(contentOf(bare));
  for (std::string line; std::getline(lines_in, line);) {
    double x = 0, y = 0, z = 0;
    if (std::sscanf(line.c_str(), "v %lf %lf %lf", &x, &y, &z) == 3)
      line = "v " + std::to_string(10 * x) + " " + std::to_string(10 * y) + " " +
             std::to_string(10 * z);
    decimetres += line + "\n";
  }
  write(folder / "dm.obj", decimetres);
  const auto weighted = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {"weights", folder / "dm.obj", "--skeleton", rig,
                                    "-o",      folder / "new.glb"};
    all.insert(all.end(), more.begin(), more.end());
    return derm(all);
  };
  const Outcome right = weighted({"--unit", "dm"});
  ASSERT_EQ(right.exit_code, 0) << right.err;
  EXPECT_EQ(right.err.find("right unit"), std::string::npos) << right.err;
  EXPECT_EQ(right.err.find("in sight"), std::string::npos) << right.err;
  const Outcome wrong = weighted({});
  EXPECT_EQ(wrong.exit_code, 0) << wrong.err;
  EXPECT_NE(wrong.err.find("rig.glb: the joints span"), std::string::npos) << wrong.err;
  const Outcome both = weighted({"--skeleton-unit", "10"});
  EXPECT_EQ(both.err.find("right unit"), std::string::npos) << both.err;
  EXPECT_EQ(derm({"weights", bare, "--skeleton-unit", "cm", "-o", folder / "x.glb"}).exit_code, 2);
}

// A recipe's clip = "" means the rest pose; so does the option.
TEST(Pose, AnEmptyClipIsTheRestPose) {
  const Folder folder;
  ASSERT_EQ(derm({"cast", "cat", "-o", folder / "cat.glb"}).exit_code, 0);
  const auto posed = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"pose", folder / "cat.glb", "--time", "0.6"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), {"-o", folder / "p.obj"});
    EXPECT_EQ(derm(arguments).exit_code, 0);
    return contentOf(folder / "p.obj");
  };
  const std::string rest = posed({"--clip", ""});
  EXPECT_NE(rest, posed({}));
  EXPECT_NE(rest, posed({"--clip", "jump"}));
  write(folder / "rest.toml", "character = \"cat.glb\"\nclip = \"\"\nrange_s = [0, 0.1]\n");
  const Outcome recipe = derm({"volume", folder / "rest.toml"});
  const Outcome option = derm({"volume", folder / "cat.glb", "--clip", "", "--range", "0", "0.1"});
  EXPECT_EQ(recipe.exit_code, 0) << recipe.err;
  EXPECT_EQ(option.exit_code, 0) << option.err;
  EXPECT_EQ(option.out.find("clip"), std::string::npos) << option.out.substr(0, 200);
}

}  // namespace
}  // namespace derm::cli_test::verbs_test
