#include "derm/scene/recipe.h"

#include <string>

#include <gtest/gtest.h>

#include "support/test_layer_types.h"

namespace derm::recipe_test {
namespace {

using testing_support::KeysParameters;
using testing_support::testLayerTypes;

Result<Recipe> parsed(std::string_view text) {
  return parseRecipe(text, "r.toml", testLayerTypes());
}

std::string errorOf(std::string_view text) {
  const Result<Recipe> recipe = parsed(text);
  return recipe.ok() ? "no error" : recipe.error().text();
}

constexpr std::string_view kIssueRecipe =
    R"(character = "cast:cat"       # or a path, relative to this file
clip = "jump"                # name or number; default the first
fps = 60                     # [Hz] of what comes out
range_s = [0.0, 2.0]         # optional
preroll_s = 0.5              # [s] simulated before the first frame
loop = false

[skinning]
method = "linear"            # rigid | linear | dual-quaternion (| centre, with the volume issue)

[[layer]]
type = "bump"
name = "belly"
enabled = true
)";

TEST(Recipe, TheDocumentedFormIsRead) {
  const Result<Recipe> recipe = parsed(kIssueRecipe);
  ASSERT_TRUE(recipe.ok()) << recipe.error().text();
  EXPECT_EQ(recipe->character, "cast:cat");
  EXPECT_EQ(recipe->clip, ClipChoice(std::string("jump")));
  EXPECT_EQ(recipe->fps, 60);
  EXPECT_EQ(recipe->range_s, (std::array{0.0, 2.0}));
  EXPECT_EQ(recipe->preroll_s, 0.5);
  EXPECT_FALSE(recipe->loop);
  EXPECT_EQ(recipe->skinning, SkinningMethod::Linear);
  ASSERT_EQ(recipe->layers.size(), 1u);
  EXPECT_EQ(recipe->layers[0].type, "bump");
  EXPECT_EQ(recipe->layers[0].name, "belly");
  EXPECT_TRUE(recipe->layers[0].enabled);
}

TEST(Recipe, TellsTheFilesThatItNames) {
  const Result<Recipe> recipe = parseRecipe(R"(character = "body.glb"
motion = "walk.bvh"

[[face.motion]]
source = "cast:head-a"

[[face.motion]]
source = "take.bvh"
map = "names.txt"

[[layer]]
type = "detail"
poses = [{ name = "a", expression = "anger", map = "frown.png" },
         { name = "b", expression = "fear", map = "drawn:forehead" },
         { name = "c", expression = "joy" }]

[[layer]]
type = "detail"
name = "off"
enabled = false
poses = { name = "a", expression = "anger", map = "other.png" }
)",
                                            "r.toml");
  ASSERT_TRUE(recipe.ok()) << recipe.error().text();
  EXPECT_EQ(filesBesideCharacter(*recipe),
            (std::vector<std::string>{"walk.bvh", "take.bvh", "names.txt", "frown.png"}));
  EXPECT_TRUE(filesBesideCharacter(Recipe()).empty());
}

TEST(Recipe, AnEmptyOneHasTheDefaults) {
  const Result<Recipe> recipe = parsed("");
  ASSERT_TRUE(recipe.ok());
  EXPECT_EQ(*recipe, Recipe());
}

TEST(Recipe, EverythingCanBeWrittenAndReadBack) {
  const Result<Recipe> recipe = parsed(R"(
character = "models/my \"cat\".glb"
metres_per_unit = 0.01
motion = "takes/walk.bvh"
motion_map = "names.txt"
clip = 3
fps = 29.97
range_s = [0.1, 1]
preroll_s = 0.25
loop = true
[skinning]
method = "dual-quaternion"
twist_spread = "none"
[simulation]
seek = "preroll"
rate_hz = 480
teleport_m = 2.5
[[layer]]
type = "keys"
name = "é 😀"
enabled = false
on = true
amount = 0.1
limit_m = 3
count = 7
label = "line\nbreak \u0001"
shares = [0.25, 1, 0]
joint = "spine"
ends = ["a", "b"]
group = "belly"
mood = "wild"
[[layer]]
type = "bump"
)");
  ASSERT_TRUE(recipe.ok()) << recipe.error().text();
  const std::string text = writeRecipe(*recipe);
  const Result<Recipe> again = parsed(text);
  ASSERT_TRUE(again.ok()) << again.error().text() << "\n" << text;
  EXPECT_EQ(*again, *recipe) << text;
  EXPECT_EQ(writeRecipe(*again), text);
  EXPECT_EQ(again->clip, ClipChoice(std::int64_t{3}));
  EXPECT_EQ(again->twist_spread, TwistRule::None);
  EXPECT_EQ(again->seek, SeekRule::Preroll);
  EXPECT_EQ(again->layers[1].name, "bump");
}

TEST(Recipe, AWrittenOneIsShort) {
  Recipe recipe;
  recipe.character = "cast:cat";
  EXPECT_EQ(writeRecipe(recipe), "character = \"cast:cat\"\n");
}

TEST(Recipe, AClipNameThatIsANumberStaysAName) {
  Recipe recipe;
  recipe.clip = std::string("3");
  const Result<Recipe> again = parsed(writeRecipe(recipe));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->clip, ClipChoice(std::string("3")));
}

TEST(Recipe, UnknownKeysNameTheNearest) {
  EXPECT_EQ(errorOf("character = \"x\"\nfsp = 60\n"),
            "r.toml:2:1: fsp: unknown key; did you mean \"fps\"?");
  EXPECT_EQ(errorOf("[skinning]\n  methode = \"linear\"\n"),
            "r.toml:2:3: skinning.methode: unknown key; did you mean \"method\"?");
  EXPECT_EQ(errorOf("[[layer]]\ntype = \"bump\"\nhieght = 1\n"),
            "r.toml:3:1: layer[0].hieght: unknown key; did you mean \"height\"?");
  EXPECT_EQ(errorOf("[[layer]]\ntype = \"bump\"\nenable = true\n"),
            "r.toml:3:1: layer[0].enable: unknown key; did you mean \"enabled\"?");
  EXPECT_EQ(errorOf("[layers]\n"), "r.toml:1:2: layers: unknown key; did you mean \"layer\"?");
}

TEST(Recipe, WrongTypesSayWhatWasExpected) {
  EXPECT_EQ(errorOf("fps = \"sixty\""),
            "r.toml:1:7: fps: expected a number, 0.001 to 1000 [Hz], found text \"sixty\"");
  EXPECT_EQ(errorOf("character = 3"), "r.toml:1:13: character: expected text, found 3");
  EXPECT_EQ(errorOf("loop = 1"), "r.toml:1:8: loop: expected true or false, found 1");
  EXPECT_EQ(errorOf("range_s = [1]"),
            "r.toml:1:11: range_s: expected a list of 2 numbers, -1e+06 to 1e+06 [s], found [1]");
  EXPECT_EQ(errorOf("range_s = [1, \"x\"]"),
            "r.toml:1:15: range_s: expected a number, -1e+06 to 1e+06 [s], found text \"x\"");
  EXPECT_EQ(errorOf("clip = 1.5"),
            "r.toml:1:8: clip: expected the name of a clip or its number, found 1.5");
  EXPECT_EQ(errorOf("clip = -1"),
            "r.toml:1:8: clip: expected the name of a clip or its number, found -1");
  EXPECT_EQ(errorOf("skinning = \"linear\""),
            "r.toml:1:12: skinning: expected a table, [skinning], found text");
  EXPECT_EQ(errorOf("[layer]\ntype = \"bump\"\n"),
            "r.toml:1:2: layer: expected a list of tables, [[layer]], found a table");
  EXPECT_EQ(errorOf("layer = [3]"),
            "r.toml:1:10: layer[0]: expected a table, found a whole number");
  EXPECT_EQ(errorOf("fps = 1979-05-27"), "r.toml:1:7: dates and times have no place in a recipe");
}

TEST(Recipe, NumbersOutOfRangeAreErrors) {
  for (const std::string bad : {"0", "-5", "nan", "inf", "1e9", "1001", "0.0"})
    EXPECT_EQ(errorOf("fps = " + bad).substr(0, 40), "r.toml:1:7: fps: expected a number, 0.00")
        << bad;
  EXPECT_EQ(errorOf("range_s = [2, 1]"), "r.toml:1:11: range_s: a range ends after it starts");
  EXPECT_EQ(errorOf("range_s = [0, nan]"),
            "r.toml:1:15: range_s: expected a number, -1e+06 to 1e+06 [s], found nan");
  EXPECT_EQ(errorOf("preroll_s = -0.5"),
            "r.toml:1:13: preroll_s: expected a number, 0 to 3600 [s], found -0.5");
}

TEST(Recipe, WordsMustBeKnown) {
  EXPECT_EQ(errorOf("[skinning]\nmethod = \"liner\""),
            "r.toml:2:10: skinning.method: expected one of \"rigid\", \"linear\", "
            "\"dual-quaternion\", \"centre\", found \"liner\"; did you mean \"linear\"?");
  EXPECT_EQ(
      errorOf("[simulation]\nseek = \"xyzzyplugh\""),
      "r.toml:2:8: simulation.seek: expected one of \"replay\", \"reset\", \"preroll\", found "
      "\"xyzzyplugh\"");
}

TEST(Recipe, LayerTypesMustBeKnown) {
  EXPECT_EQ(
      errorOf("[[layer]]\ntype = \"bumb\"\n"),
      "r.toml:2:8: layer[0].type: unknown layer type \"bumb\"; known are \"bump\", \"spring\", "
      "\"refine\", \"keys\"; did you mean \"bump\"?");
  EXPECT_EQ(errorOf("fps = 3\n[[layer]]\nname = \"x\"\n"),
            "r.toml:2:1: layer[0].type: missing; a layer needs a type");
}

TEST(Recipe, LayerNamesAreUnique) {
  const std::string two = "[[layer]]\ntype = \"bump\"\nname = \"a\"\n";
  EXPECT_EQ(errorOf(two + two), "r.toml:6:8: layer[1].name: another layer is named \"a\"");
  EXPECT_EQ(errorOf("[[layer]]\ntype = \"bump\"\nname = \"skinning\"\n"),
            "r.toml:3:8: layer[0].name: another layer is named \"skinning\"");
  EXPECT_EQ(errorOf("[[layer]]\ntype = \"bump\"\nname = \"\"\n"),
            "r.toml:3:8: layer[0].name: a name has at least one letter");
  const Result<Recipe> unnamed = parsed(
      "[[layer]]\ntype=\"bump\"\n[[layer]]\ntype=\"bump\"\nname=\"bump_2\"\n[[layer]]\n"
      "type=\"bump\"\n");
  ASSERT_TRUE(unnamed.ok()) << unnamed.error().text();
  EXPECT_EQ(unnamed->layers[0].name, "bump");
  EXPECT_EQ(unnamed->layers[2].name, "bump_3");
}

TEST(Recipe, KeysOfLayersAreCheckedEvenWhereTheyAreDisabled) {
  const std::string head = "[[layer]]\ntype = \"keys\"\nenabled = false\n";
  EXPECT_EQ(errorOf(head + "amount = 2"),
            "r.toml:4:10: layer[0].amount: expected a number, 0 to 1 [m], found 2");
  EXPECT_EQ(errorOf(head + "count = 2.5"),
            "r.toml:4:9: layer[0].count: expected a whole number, 1 to 9, found 2.5");
  EXPECT_EQ(errorOf(head + "shares = [0.5, 2]"),
            "r.toml:4:16: layer[0].shares: expected a number, 0 to 1, found 2");
  EXPECT_EQ(errorOf(head + "shares = [1, 1, 1, 1, 1]"),
            "r.toml:4:10: layer[0].shares: expected a list of 0 to 4 numbers, 0 to 1, found [1, 1, "
            "1, 1, 1]");
  EXPECT_EQ(errorOf(head + "joint = 3"),
            "r.toml:4:9: layer[0].joint: expected the name of a joint, found 3");
  EXPECT_EQ(errorOf(head + "ends = \"a\""),
            "r.toml:4:8: layer[0].ends: expected a list of joint names, found text \"a\"");
  EXPECT_EQ(errorOf(head + "limit_m = 0.1"),
            "r.toml:4:11: layer[0].limit_m: must not be below amount");
  EXPECT_EQ(errorOf(head + "on = \"yes\""),
            "r.toml:4:6: layer[0].on: expected true or false, found text \"yes\"");
}

TEST(Recipe, BrokenTomlGivesLineAndColumn) {
  const std::string error = errorOf("fps = 60\nloop = = true\n");
  EXPECT_TRUE(error.starts_with("r.toml:2:")) << error;
  EXPECT_TRUE(errorOf("fps = 1\nfps = 2").starts_with("r.toml:2:"));
  EXPECT_TRUE(errorOf(std::string_view("a\0b = 1", 7)).starts_with("r.toml:1:"));
  EXPECT_TRUE(errorOf("a = \"\xff\xfe\"").starts_with("r.toml:"));
}

TEST(Recipe, EveryTruncationIsARecipeOrAnError) {
  const std::string text = std::string(kIssueRecipe) + "shares = [{a = 1}, \"x\"]";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const Result<Recipe> recipe = parsed(std::string_view(text).substr(0, length));
    EXPECT_TRUE(recipe.ok() || !recipe.error().message.empty());
  }
}

TEST(Recipe, HostileSizesAreRefused) {
  std::string many;
  for (std::size_t i = 0; i <= Recipe::kMaxLayers; ++i) many += "[[layer]]\ntype='bump'\n";
  EXPECT_EQ(errorOf(many), "r.toml:1:3: layer: 1001 layers; at most 1000 are accepted");
  std::string million;
  for (int i = 0; i < 1000000; ++i) million += "[[layer]]\n";
  EXPECT_EQ(errorOf(million), "r.toml: 10000000 bytes; a recipe has at most 4194304");
  std::string deep_key = "a";
  for (int i = 0; i < 100000; ++i) deep_key += ".a";
  EXPECT_EQ(errorOf("fps = 1\n" + deep_key + " = 1"), "r.toml:2:1: a key is nested too deep");
  EXPECT_EQ(errorOf("[" + deep_key + "]"), "r.toml:1:1: a key is nested too deep");
  EXPECT_NE(errorOf("a = " + std::string(100000, '[')), "no error");
  EXPECT_NE(errorOf("a = " + std::string(100000, '{')), "no error");
}

TEST(Recipe, AFileThatIsNotThereIsNamed) {
  const Result<Recipe> recipe = loadRecipe("/nowhere/r.toml");
  ASSERT_FALSE(recipe.ok());
  EXPECT_EQ(recipe.error().code, ErrorCode::CannotRead);
  EXPECT_EQ(recipe.error().where.file, "/nowhere/r.toml");
}

TEST(RecipeFields, ListsEveryKeyForTheManual) {
  KeysParameters keys;
  const std::vector<FieldInfo> fields = listFields([&](RecipeFields& f) { keys.fields(f); });
  ASSERT_EQ(fields.size(), 10u);
  EXPECT_EQ(fields[1].key, "amount");
  EXPECT_EQ(fields[1].expected, "a number, 0 to 1 [m]");
  EXPECT_EQ(fields[1].preset, "0.5");
  EXPECT_EQ(fields[2].preset, "");
  EXPECT_EQ(fields[5].preset, "[0.5, 0.5]");
  EXPECT_EQ(fields[9].expected, "one of \"calm\", \"wild\"");
  EXPECT_EQ(fields[9].help, "a word");
}

TEST(RecipeFields, WhatIsWrittenIsReadBack) {
  KeysParameters keys;
  keys.on = true;
  keys.amount = 1.0 / 3;
  keys.limit_m = 7;
  keys.count = 9;
  keys.label = "tab\t\"quote\"";
  keys.shares = {0.1, 0.2, 0.7};
  keys.joint.text = "knee";
  keys.ends = {{"toe", {}}, {"heel", {}}};
  keys.mood = testing_support::Mood::Wild;
  const RecipeValue::Table table = writeFields([&](RecipeFields& f) { keys.fields(f); });
  KeysParameters again;
  ASSERT_TRUE(readFields(table, "", "", [&](RecipeFields& f) { again.fields(f); }).ok());
  EXPECT_EQ(again.on, keys.on);
  EXPECT_EQ(again.amount, keys.amount);
  EXPECT_EQ(again.limit_m, keys.limit_m);
  EXPECT_EQ(again.count, keys.count);
  EXPECT_EQ(again.label, keys.label);
  EXPECT_EQ(again.shares, keys.shares);
  EXPECT_EQ(again.joint, keys.joint);
  EXPECT_EQ(again.ends, keys.ends);
  EXPECT_EQ(again.mood, keys.mood);
}

}  // namespace
}  // namespace derm::recipe_test
