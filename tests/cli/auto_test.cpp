#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace derm::cli_test::auto_test {
namespace {

TEST(CliAuto, ALookIsWrittenAndBakes) {
  const Folder folder;
  const std::string look = folder / "look.toml";
  const Outcome found = derm({"auto", "cast:cat", "--clip", "jump", "--json", "-o", look});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const auto layers = nlohmann::json::parse(found.out)["layers"];
  EXPECT_GE(layers.size(), 5u);
  EXPECT_EQ(layers[0]["type"], "flesh");
  EXPECT_EQ(derm({"bake", look, "--range", "0", "0.1", "-o", folder / "a.pc2"}).exit_code, 0);
  EXPECT_EQ(derm({"auto", "cast:cat", "--clip", "jump", "-q", "-o", look}).out, "");
}

TEST(CliAuto, ADashPrintsTheRecipe) {
  const Outcome printed = derm({"auto", "cast:arm", "-o", "-"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(printed.out.substr(0, 9), "character");
}

TEST(CliAuto, OnlyUntouchedProposalsOfTheSameCommandAreReplaced) {
  const Folder folder;
  const std::string look = folder / "look.toml";
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"cast:cat", "-o", look});
    return derm(arguments);
  };
  ASSERT_EQ(run({"flesh", "auto"}).exit_code, 0);
  EXPECT_EQ(run({"flesh", "auto"}).exit_code, 0);
  const std::string flesh = contentOf(look);
  const Outcome other = run({"wrinkles", "auto"});  // it once erased eight flesh layers
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("--add"), std::string::npos) << other.err;
  EXPECT_EQ(contentOf(look), flesh);
  write(look, flesh + "# softer next time\n");
  EXPECT_EQ(run({"flesh", "auto"}).exit_code, 2);
  EXPECT_EQ(contentOf(look), flesh + "# softer next time\n");
  EXPECT_EQ(run({"flesh", "auto", "--force"}).exit_code, 0);
  EXPECT_EQ(contentOf(look), flesh);
}

TEST(CliAuto, WhatARecipeCannotNameIsRefusedBeforeAnyWork) {
  const Folder folder;
  const std::string latin = folder / "caf\xE9.glb", look = folder / "look.toml";
  ASSERT_EQ(derm({"cast", "arm", "-o", latin}).exit_code, 0);
  ASSERT_EQ(derm({"info", latin}).exit_code, 0);
  for (const std::vector<std::string>& verb :
       std::vector<std::vector<std::string>>{{"auto"}, {"flesh", "auto"}, {"wrinkles", "auto"}}) {
    std::vector<std::string> arguments = verb;
    arguments.insert(arguments.end(), {latin, "-o", look});
    const Outcome refused = derm(arguments);
    EXPECT_EQ(refused.exit_code, 2) << verb[0];
    EXPECT_NE(refused.err.find("UTF-8"), std::string::npos) << refused.err;
  }
  EXPECT_EQ(derm({"auto", "cast:arm", "--motion", latin, "-o", look}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(look));
  // A folder that both share is not named.
  std::filesystem::create_directory(folder.path() / "\xFF");
  const std::string in = folder / "\xFF/arm.glb", out = folder / "\xFF/arm.toml";
  ASSERT_EQ(derm({"cast", "arm", "-o", in}).exit_code, 0);
  EXPECT_EQ(derm({"auto", in, "-o", out}).exit_code, 0);
}

TEST(CliAuto, AddKeepsWhatIsThere) {
  const Folder folder;
  const std::string look = folder / "look.toml";
  const std::string mine =
      "# My cat.\ncharacter = \"cast:cat\"\nclip = \"jump\"  # the high one\n\n"
      "[[layer]]\ntype = \"volume\"\nname = \"mine\"\npreset = \"shape\"\n";
  write(look, mine);
  for (const std::vector<std::string>& verb :
       std::vector<std::vector<std::string>>{{"wrinkles", "auto"}, {"flesh", "auto"}, {"auto"}}) {
    std::vector<std::string> arguments = verb;
    arguments.insert(arguments.end(), {"cast:cat", "--clip", "jump", "--add", "-o", look});
    ASSERT_EQ(derm(arguments).exit_code, 0) << verb[0];
  }
  const std::string merged = contentOf(look);
  EXPECT_EQ(merged.substr(0, mine.find("[[layer]]")), mine.substr(0, mine.find("[[layer]]")));
  EXPECT_NE(merged.find("name = \"mine\"\npreset = \"shape\""), std::string::npos);
  EXPECT_EQ(merged.find("name = \"volume\""), std::string::npos);
  EXPECT_LT(merged.find("type = \"flesh\""), merged.find("type = \"volume\""));
  EXPECT_LT(merged.find("type = \"volume\""), merged.find("type = \"wrinkles\""));
  const Outcome wrong = derm({"auto", "cast:arm", "--add", "-o", look});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("another character"), std::string::npos) << wrong.err;
}

TEST(CliAuto, AddTakesRecipesOfEveryShape) {
  const Folder folder;
  const std::string look = folder / "look.toml";
  // Layers in one line; a recipe that is given with its character; an empty file.
  const std::string in_line = "layer = [ { type = \"volume\", name = \"mine\" } ]\n";
  for (const std::string& before :
       {"character = \"cast:cat\"\n" + in_line, in_line, std::string()}) {
    write(look, before);
    const Outcome o = derm({"flesh", "auto", "cast:cat", "--add", "-o", look});
    ASSERT_EQ(o.exit_code, 0) << o.err;
    EXPECT_EQ(derm({"check", look}).exit_code, 0) << contentOf(look);
    EXPECT_NE(contentOf(look).find("character = \"cast:cat\""), std::string::npos);
    EXPECT_NE(contentOf(look).find("\"belly\""), std::string::npos);
    // One comment would stand for all layers of its line.
    if (!before.empty()) {
      EXPECT_EQ(contentOf(look).find("# "), std::string::npos) << contentOf(look);
    }
  }
}

TEST(CliOutputs, CharactersOfOthersAreNotReplaced) {
  const Folder folder;
  const std::string theirs = folder / "theirs.obj", ours = folder / "ours.glb";
  write(theirs, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const std::string before = contentOf(theirs);
  const Outcome o = derm({"pose", "cast:cylinder", "-o", theirs});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_NE(o.err.find("--force"), std::string::npos) << o.err;
  EXPECT_EQ(contentOf(theirs), before);
  EXPECT_EQ(derm({"pose", "cast:cylinder", "--force", "-o", theirs}).exit_code, 0);
  EXPECT_EQ(derm({"pose", "cast:cylinder", "-o", theirs}).exit_code, 0);
  ASSERT_EQ(derm({"cast", "cylinder", "-o", ours}).exit_code, 0);
  EXPECT_EQ(derm({"cast", "cylinder", "-o", ours}).exit_code, 0);
  // Never its own input, whoever wrote it.
  EXPECT_EQ(derm({"weights", ours, "--force", "-o", ours}).exit_code, 2);
  EXPECT_EQ(derm({"bake", ours, "--force", "--range", "0", "0.1", "-o", ours}).exit_code, 2);
}

}  // namespace
}  // namespace derm::cli_test::auto_test
