#include "derm/scene/recipe_text.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "derm/base/rng.h"
#include "derm/io/file_bytes.h"

#include "support/test_folder.h"

namespace derm::recipe_text_test {
namespace {

constexpr std::string_view kCat = R"(# What the demo runs.
character = "cast:cat"
clip = "jump"     # the high one
fps = 30

# Bends keep their roundness.
[skinning]
method = 'centre' # not "linear"

# The belly lags,
# and swings.
[[layer]]
type = "flesh"
name = "belly"
dominant = "spine_1"
ends = ["spine_5"]
frequency_hz = 5.0   # slow
from_m = [0, 0.295, -0.110]  # hangs from the back
to_m = [ 0.0,0.2950, 1.08e-1 ]
# max_elongation = 0.7

# --- and then, apart from all layers ---

[[layer]]
type = "volume" # exactly
)";

Recipe parsed(std::string_view text) {
  Result<Recipe> recipe = parseRecipe(text, "r.toml");
  EXPECT_TRUE(recipe.ok()) << (recipe.ok() ? "" : recipe.error().text()) << "\n" << text;
  return recipe.ok() ? *recipe : Recipe();
}

/// The text after a change, checked to hold what was asked for.
template <class Change>
std::string edited(std::string_view text, const Change& change) {
  Recipe recipe = parsed(text);
  change(recipe);
  const Result<std::string> out = editRecipe(text, recipe);
  EXPECT_TRUE(out.ok()) << out.error().text();
  if (!out.ok()) return "";
  EXPECT_EQ(parsed(*out), recipe) << *out;
  return *out;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  const std::size_t at = out.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(out.find(from, at + 1), std::string::npos) << "twice: " << from;
  return at == std::string::npos ? out : out.replace(at, from.size(), to);
}

RecipeValue& key(RecipeLayer& layer, std::string_view name) {
  for (RecipeEntry& e : layer.keys)
    if (e.key == name) return e.value;
  layer.keys.push_back({.key = std::string(name), .value = {}, .location = {}});
  return layer.keys.back().value;
}

RecipeLayer volumeLayer(std::string name) {
  RecipeLayer out{.type = "volume", .name = std::move(name), .keys = {}, .location = {}};
  key(out, "sigma").content = 0.25;
  return out;
}

TEST(RecipeText, NothingChangedIsTheSameText) {
  EXPECT_EQ(edited(kCat, [](Recipe&) {}), kCat);
  EXPECT_EQ(edited("", [](Recipe&) {}), "");
}

TEST(RecipeText, OneValueChangesItsOwnCharactersOnly) {
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.fps = 24; }), replaced(kCat, "fps = 30", "fps = 24"));
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.fps = 23.976; }),
            replaced(kCat, "fps = 30", "fps = 23.976"));
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.clip = "run"; }), replaced(kCat, "\"jump\"", "\"run\""));
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.skinning = SkinningMethod::DualQuaternion; }),
            replaced(kCat, "'centre'", "'dual-quaternion'"));
  EXPECT_EQ(edited(kCat, [](Recipe& r) { key(r.layers[0], "frequency_hz").content = 4.5; }),
            replaced(kCat, "5.0   #", "4.5   #"));
  EXPECT_EQ(edited(kCat,
                   [](Recipe& r) {
                     std::get<RecipeValue::List>(key(r.layers[0], "to_m").content)[1].content =
                         0.31;
                   }),
            replaced(kCat, "0.2950", "0.31"));
}

TEST(RecipeText, ADefaultIsWrittenWhereSomethingWasWritten) {
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.fps = 60; }), replaced(kCat, "fps = 30", "fps = 60"));
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.skinning = SkinningMethod::Linear; }),
            replaced(kCat, "'centre'", "'linear'"));
  // Set and set back: as if nothing had been.
  const std::string looped = edited("fps = 30\n", [](Recipe& r) { r.loop = true; });
  EXPECT_EQ(looped, "fps = 30\nloop = true\n");
  EXPECT_EQ(edited(looped, [](Recipe& r) { r.loop = false; }), "fps = 30\nloop = false\n");
}

TEST(RecipeText, KeysAreAddedBehindTheLastOfTheirTable) {
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.loop = true; }),
            replaced(kCat, "fps = 30\n", "fps = 30\nloop = true\n"));
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.skinning_alpha = 0.25; }),
            replaced(kCat, "not \"linear\"\n", "not \"linear\"\nalpha = 0.25\n"));
  EXPECT_EQ(edited(kCat, [](Recipe& r) { key(r.layers[0], "gravity").content = 0.5; }),
            replaced(kCat, "1.08e-1 ]\n", "1.08e-1 ]\ngravity = 0.5\n"));
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.layers[1].enabled = false; }),
            replaced(kCat, "exactly\n", "exactly\nenabled = false\n"));
}

TEST(RecipeText, ASectionIsAddedAboveTheLayers) {
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.inner_rate_hz = 480; }),
            replaced(kCat, "# The belly", "[simulation]\nrate_hz = 480.0\n\n# The belly"));
  EXPECT_EQ(edited("fps = 30\n# end", [](Recipe& r) { r.seek = SeekRule::Reset; }),
            "fps = 30\n# end\n\n[simulation]\nseek = \"reset\"");
  EXPECT_EQ(edited("", [](Recipe& r) { r.seek = SeekRule::Reset; }),
            "[simulation]\nseek = \"reset\"\n");
}

TEST(RecipeText, KeysAreRemovedWithTheCommentBehindThem) {
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.clip = {}; }),
            replaced(kCat, "clip = \"jump\"     # the high one\n", ""));
  EXPECT_EQ(edited(kCat,
                   [](Recipe& r) {
                     std::erase_if(r.layers[0].keys,
                                   [](const RecipeEntry& e) { return e.key == "frequency_hz"; });
                   }),
            replaced(kCat, "frequency_hz = 5.0   # slow\n", ""));
}

TEST(RecipeText, ALayerGoesWithTheCommentsAboveIt) {
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.layers.erase(r.layers.begin()); }),
            std::string(kCat.substr(0, kCat.find("\n# The belly"))) +
                std::string(kCat.substr(kCat.find("\n# --- and"))));
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.layers.pop_back(); }),
            std::string(kCat.substr(0, kCat.find("\n[[layer]]\ntype = \"volume\""))));
  EXPECT_EQ(edited("[[layer]]\ntype = \"volume\"\n\n# end\n", [](Recipe& r) { r.layers.clear(); }),
            "# end\n");
}

TEST(RecipeText, LayersAreAddedWhereTheyBelong) {
  const std::string block = "[[layer]]\ntype = \"volume\"\nname = \"new\"\nsigma = 0.25\n";
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.layers.push_back(volumeLayer("new")); }),
            std::string(kCat) + "\n" + block);
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.layers.insert(r.layers.begin(), volumeLayer("new")); }),
            replaced(kCat, "# The belly", block + "\n# The belly"));
  EXPECT_EQ(
      edited(kCat, [](Recipe& r) { r.layers.insert(r.layers.begin() + 1, volumeLayer("new")); }),
      replaced(kCat, "# max_elongation = 0.7\n", "# max_elongation = 0.7\n\n" + block));
  EXPECT_EQ(edited("# A recipe.\r\nfps = 30\r\n",
                   [](Recipe& r) { r.layers.push_back(volumeLayer("new")); }),
            "# A recipe.\r\nfps = 30\r\n\r\n[[layer]]\r\ntype = \"volume\"\r\nname = \"new\"\r\n"
            "sigma = 0.25\r\n");
}

constexpr std::string_view kThree = R"(fps = 30
[[layer]] # first
type = "volume"
name = "a"
# of b
[[layer]]
type = "volume"
name = "b"

[simulation]   # in between
rate_hz = 100

# of c

[[layer]]
type = "volume"
name = "c" # see
swell.group = "x"
)";

TEST(RecipeText, LayersMoveWithTheirComments) {
  EXPECT_EQ(edited(kThree,
                   [](Recipe& r) {
                     std::rotate(r.layers.begin(), r.layers.begin() + 1, r.layers.begin() + 2);
                   }),
            R"(fps = 30
# of b
[[layer]]
type = "volume"
name = "b"

[[layer]] # first
type = "volume"
name = "a"

[simulation]   # in between
rate_hz = 100

# of c

[[layer]]
type = "volume"
name = "c" # see
swell.group = "x"
)");
  EXPECT_EQ(edited(kThree,
                   [](Recipe& r) {
                     std::rotate(r.layers.begin(), r.layers.begin() + 2, r.layers.end());
                   }),
            R"(fps = 30

[[layer]]
type = "volume"
name = "c" # see
swell.group = "x"

[[layer]] # first
type = "volume"
name = "a"
# of b
[[layer]]
type = "volume"
name = "b"

[simulation]   # in between
rate_hz = 100

# of c
)");
}

TEST(RecipeText, ALayerKeepsItsCommentsUnderAnotherName) {
  EXPECT_EQ(edited(kThree, [](Recipe& r) { r.layers[2].name = "d"; }),
            replaced(kThree, "name = \"c\" # see", "name = \"d\" # see"));
  EXPECT_EQ(edited(kCat, [](Recipe& r) { r.layers[1].name = "body"; }),
            replaced(kCat, "exactly\n", "exactly\nname = \"body\"\n"));
}

TEST(RecipeText, LayersWithoutANameGetOneWhereTheirsWouldChange) {
  const std::string_view two = "[[layer]]\ntype = \"volume\"\n\n[[layer]]\ntype = \"volume\"\n";
  EXPECT_EQ(edited(two, [](Recipe& r) { r.layers.erase(r.layers.begin()); }),
            "[[layer]]\ntype = \"volume\"\nname = \"volume_2\"\n");
  EXPECT_EQ(edited(two, [](Recipe& r) { r.layers.pop_back(); }), "[[layer]]\ntype = \"volume\"\n");
}

TEST(RecipeText, DottedKeysAndInlineTablesStayWhatTheyAre) {
  const std::string_view dotted = "skinning.method = \"centre\" # x\n\"simulation\" . rate_hz=1\n";
  EXPECT_EQ(edited(dotted, [](Recipe& r) { r.skinning = SkinningMethod::Linear; }),
            replaced(dotted, "centre", "linear"));
  EXPECT_EQ(edited(dotted, [](Recipe& r) { r.skinning_alpha = 0.75; }),
            replaced(dotted, "# x\n", "# x\nskinning.alpha = 0.75\n"));
  EXPECT_EQ(edited(dotted, [](Recipe& r) { r.teleport_m = 0.75; }),
            std::string(dotted) + "\"simulation\" . teleport_m = 0.75\n");
  const std::string_view brace = "skinning = {method='centre',alpha = 0.50} # x";
  EXPECT_EQ(edited(brace, [](Recipe& r) { r.skinning_alpha = 0.75; }),
            replaced(brace, "0.50", "0.75"));
  EXPECT_EQ(edited(brace, [](Recipe& r) { r.twist_spread = TwistRule::None; }),
            replaced(brace, "0.50", "0.50, twist_spread = \"none\""));
}

TEST(RecipeText, LineEndsMarksAndAMissingLastLineEndStay) {
  const std::string_view text =
      "\xEF\xBB\xBF# caf\xC3\xA9\r\nfps = 30 # \xE2\x82\xAC\r\n\r\n"
      "[[layer]]\r\ntype = \"volume\"";
  EXPECT_EQ(edited(text, [](Recipe& r) { r.fps = 24; }), replaced(text, "30", "24"));
  EXPECT_EQ(edited(text, [](Recipe& r) { key(r.layers[0], "a").content = 2.0; }),
            std::string(text) + "\r\na = 2.0");
  EXPECT_EQ(edited(text, [](Recipe& r) { r.layers.clear(); }),
            text.substr(0, text.find("\r\n\r\n")));
  EXPECT_EQ(
      edited(text, [](Recipe& r) { r.layers.push_back(volumeLayer("x")); }),
      std::string(text) + "\r\n\r\n[[layer]]\r\ntype = \"volume\"\r\nname = \"x\"\r\nsigma = 0.25");
}

constexpr std::string_view kInline = R"(layer = [  # from the skin outwards
  # keeps volume
  { type = "volume", name = "a", a = 2.00 },  # soft
  { type = "volume", name = "b", swell = [{ group = "x", percent = 3 }] },
  # the end
]
)";

TEST(RecipeText, LayersInAListKeepItsLayout) {
  EXPECT_EQ(edited(kInline, [](Recipe& r) { key(r.layers[0], "b").content = 7.0; }),
            replaced(kInline, "2.00 }", "2.00, b = 7.0 }"));
  EXPECT_EQ(edited(kInline, [](Recipe& r) { r.layers.erase(r.layers.begin()); }),
            R"(layer = [  # from the skin outwards
  { type = "volume", name = "b", swell = [{ group = "x", percent = 3 }] }
  # the end
]
)");
  EXPECT_EQ(edited(kInline, [](Recipe& r) { std::swap(r.layers[0], r.layers[1]); }),
            R"(layer = [  # from the skin outwards
  { type = "volume", name = "b", swell = [{ group = "x", percent = 3 }] },
  # keeps volume
  { type = "volume", name = "a", a = 2.00 }  # soft
  # the end
]
)");
}

TEST(RecipeText, ListsGrowAndShrinkInPlace) {
  const auto ends = [](std::vector<std::string> names) {
    return [names](Recipe& r) {
      RecipeValue::List list;
      for (const std::string& name : names) list.push_back({.content = name, .location = {}});
      key(r.layers[0], "ends").content = list;
    };
  };
  const auto text = [](std::string_view list) {
    return "[[layer]]\ntype = \"flesh\"\ndominant = \"x\"\nends = " + std::string(list) +
           " # behind\nto_m = [1, 2, 3]\n";
  };
  const std::string_view rows = "[\n  'a',\n  'b', # two\n  'c',\n]";
  EXPECT_EQ(edited(text("['a']"), ends({"a", "b"})), text("['a', \"b\"]"));
  EXPECT_EQ(edited(text("[ 'a' ,'b' ]"), ends({"b"})), text("[ 'b' ]"));
  EXPECT_EQ(edited(text("[ 'a' ,'b' ]"), ends({"a"})), text("[ 'a' ]"));
  EXPECT_EQ(edited(text("[ 'a' ,'b' ]"), ends({})), text("[]"));
  EXPECT_EQ(edited(text("[]"), ends({"a", "b"})), text("[\"a\", \"b\"]"));
  EXPECT_EQ(edited(text(rows), ends({"a", "b", "c", "d"})),
            text("[\n  'a',\n  'b', # two\n  'c',\n  \"d\",\n]"));
  EXPECT_EQ(edited(text(rows), ends({"a", "x", "c"})), text("[\n  'a',\n  'x', # two\n  'c',\n]"));
  EXPECT_EQ(edited(text(rows), ends({"b", "c"})), text("[\n  'b', # two\n  'c',\n]"));
  EXPECT_EQ(edited(text(rows), ends({"a", "b", "y", "c"})),
            text("[\n  'a',\n  'b',  # two\n  \"y\",\n  'c'\n]"));
}

constexpr std::string_view kSplit = R"([[layer]]
type = "volume"
name = "a"
  [[layer.swell]]
  group = "x"   # of a
  [[ layer . "swell" ]]
  group = "y"

[simulation]
rate_hz = 1_00

# and of a
[[layer.swell]]
group = "z"

[[layer]]
type = "volume"
name = "b"
mask = '''
group:x'''
[layer.swell]
group = """one \
  two"""
)";

TEST(RecipeText, TablesOfALayerMoveAndGoWithIt) {
  const std::string_view first = kSplit.substr(0, kSplit.find("\n[simulation]"));
  const std::string_view middle = "[simulation]\nrate_hz = 1_00\n\n";
  const std::string_view rest = "\n# and of a\n[[layer.swell]]\ngroup = \"z\"\n";
  const std::string_view second = kSplit.substr(kSplit.rfind("[[layer]]"));
  EXPECT_EQ(
      edited(kSplit, [](Recipe& r) { std::swap(r.layers[0], r.layers[1]); }),
      std::string(middle) + std::string(second) + "\n" + std::string(first) + std::string(rest));
  EXPECT_EQ(edited(kSplit, [](Recipe& r) { r.layers.erase(r.layers.begin()); }),
            std::string(middle) + std::string(second));
  EXPECT_EQ(edited(kSplit,
                   [](Recipe& r) {
                     auto& list = std::get<RecipeValue::List>(key(r.layers[0], "swell").content);
                     std::get<RecipeValue::Table>(list[1].content)[0].value.content =
                         std::string("w");
                   }),
            replaced(kSplit, "\"y\"", "\"w\""));
  EXPECT_EQ(edited(kSplit,
                   [](Recipe& r) {
                     std::get<RecipeValue::List>(key(r.layers[0], "swell").content).pop_back();
                   }),
            replaced(kSplit, "\n# and of a\n[[layer.swell]]\ngroup = \"z\"\n", ""));
  EXPECT_EQ(edited(kSplit,
                   [](Recipe& r) {
                     auto& list = std::get<RecipeValue::List>(key(r.layers[0], "swell").content);
                     list.push_back(list[0]);
                   }),
            replaced(kSplit, "\"z\"\n", "\"z\"\n\n[[layer.swell]]\ngroup = \"x\"\n"));
  EXPECT_EQ(
      edited(kSplit, [](Recipe& r) { key(r.layers[1], "swell").content = RecipeValue::List{}; }),
      replaced(kSplit, "[layer.swell]\ngroup = \"\"\"one \\\n  two\"\"\"\n", "swell = []\n"));
}

TEST(RecipeText, TheOrderOfALayersKeysMakesNoOtherRecipe) {
  // A key cannot be written behind [layer.swell], so that has to be the same.
  const std::string_view text = "[[layer]]\ntype = \"volume\"\n[layer.swell]\ngroup = \"x\"\n";
  EXPECT_EQ(edited(text, [](Recipe& r) { key(r.layers[0], "a").content = 2.0; }),
            replaced(text, "[layer.swell]", "a = 2.0\n[layer.swell]"));
  EXPECT_EQ(parsed("[[layer]]\ntype = \"volume\"\na = 1\nb = 2\n"),
            parsed("[[layer]]\ntype = \"volume\"\nb = 2\na = 1\n"));
  EXPECT_NE(parsed("[[layer]]\ntype = \"volume\"\na = 1\nb = 2\n"),
            parsed("[[layer]]\ntype = \"volume\"\nb = 1\na = 2\n"));
}

TEST(RecipeText, WhatCannotBeReadBackIsAnErrorThatNamesIt) {
  Recipe recipe = parsed(kCat);
  recipe.fps = -1;
  const Result<std::string> out = editRecipe(kCat, recipe);
  ASSERT_FALSE(out.ok());
  EXPECT_NE(out.error().text().find("r.toml:4:7: fps"), std::string::npos) << out.error().text();
  EXPECT_FALSE(editRecipe("fps = ", parsed(kCat)).ok());
  EXPECT_FALSE(editRecipe("fsp = 3", parsed(kCat)).ok());
  recipe = parsed(kCat);
  recipe.layers[1].type = "no such type";
  EXPECT_FALSE(editRecipe(kCat, recipe).ok());
}

// ------------------------------------------------------------------------------------- any edits

class RandomEdits {
 public:
  explicit RandomEdits(std::uint64_t seed) : rng_(seed) {}

  /// Returns whether something that may have a comment of its own was taken out.
  bool apply(Recipe& r) {
    switch (rng_.below(18)) {
      case 0:
        r.fps = rng_.below(2) == 0 ? 60 : 1 + double(rng_.below(100));
        return false;
      case 1:
        r.loop = !r.loop;
        return false;
      case 2: {
        const bool had = r.clip.index() != 0;
        r.clip = ClipChoice();
        if (rng_.below(3) > 0) r.clip = std::int64_t(rng_.below(9));
        if (rng_.below(3) == 0) r.clip = "it's \"clip\" #" + std::to_string(rng_.below(9));
        return had;
      }
      case 3:
        r.range_s = std::array{0.0, 1 + double(rng_.below(9))};
        return false;
      case 4:
        r.range_s.reset();
        return true;
      case 5:
        r.skinning = SkinningMethod(rng_.below(4));
        return false;
      case 6:
        r.skinning_alpha = rng_.below(3) == 0 ? 0.5 : rng_.uniform();
        return false;
      case 7:
        r.teleport_m.reset();
        return true;
      case 8:
        r.teleport_m = 1 + double(rng_.below(5));
        r.inner_rate_hz = rng_.below(2) == 0 ? 240 : 100;
        return false;
      case 9:
        r.layers.insert(r.layers.begin() + std::ptrdiff_t(rng_.below(r.layers.size() + 1)),
                        volumeLayer("new " + std::to_string(rng_.next())));
        return false;
      default:
        return !r.layers.empty() && applyToLayers(r);
    }
  }

 private:
  bool applyToLayers(Recipe& r) {
    const std::size_t i = rng_.below(r.layers.size());
    RecipeLayer& layer = r.layers[i];
    switch (rng_.below(8)) {
      case 0:
        r.layers.erase(r.layers.begin() + std::ptrdiff_t(i));
        return true;
      case 1:
        std::swap(r.layers[i], r.layers[rng_.below(r.layers.size())]);
        return false;
      case 2:
        layer.name = "name's \\ \"" + std::to_string(rng_.next());
        return false;
      case 3: {
        RecipeLayer copy = layer;
        copy.name = "copy " + std::to_string(rng_.next());
        r.layers.push_back(copy);
        return false;
      }
      case 4:
        layer.enabled = !layer.enabled;
        return false;
      case 5:
        if (layer.keys.empty()) return false;
        layer.keys.erase(layer.keys.begin() + std::ptrdiff_t(rng_.below(layer.keys.size())));
        return true;
      case 6:
        if (layer.type == "volume") key(layer, "swell") = swell();
        return true;
      default:
        return changeKey(layer);
    }
  }
  bool changeKey(RecipeLayer& layer) {
    for (RecipeEntry& e : layer.keys) {
      if (rng_.below(3) != 0) continue;
      if (auto* list = std::get_if<RecipeValue::List>(&e.value.content);
          list != nullptr && !list->empty()) {
        const std::size_t at = rng_.below(list->size());
        if (rng_.below(2) == 0)
          list->erase(list->begin() + std::ptrdiff_t(at));
        else
          list->insert(list->begin() + std::ptrdiff_t(at), list->back());
        return true;
      }
      if (auto* number = std::get_if<double>(&e.value.content)) *number *= 0.9;
      if (auto* number = std::get_if<std::int64_t>(&e.value.content)) *number += 1;
    }
    return false;
  }
  RecipeValue swell() {
    RecipeValue::List list;
    for (std::uint64_t n = rng_.below(4); n-- > 0;) {
      RecipeValue::Table table = {
          {.key = "group",
           .value = {.content = std::string(1, char('a' + n)), .location = {}},
           .location = {}}};
      if (rng_.below(2) == 0)
        table.push_back({.key = "percent", .value = {.content = rng_.uniform()}, .location = {}});
      list.push_back({.content = std::move(table), .location = {}});
    }
    if (list.size() == 1 && rng_.below(2) == 0) return list[0];
    return {.content = std::move(list), .location = {}};
  }

  Rng rng_;
};

std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// A recipe's text, with a comment on every line that can take one.
std::string commented(std::string_view text) {
  std::string out;
  int n = 0;
  for (const std::string& line : linesOf(text)) {
    const bool is_whole = line.find("\"\"\"") == std::string::npos &&
                          line.find("'''") == std::string::npos && !line.empty() &&
                          line.back() != '\r' && !line.starts_with("  two");
    out += line + (is_whole ? " # note " + std::to_string(n++) + ";" : "") + "\n";
  }
  return out;
}

std::vector<std::string> nastyTexts() {
  std::vector<std::string> out = {
      "",
      "# nothing\n\n# but comments",
      "\xEF\xBB\xBF",
      "\n\n\n",
      "\r\n# a\r\n",
      std::string(kCat),
      std::string(kThree),
      std::string(kInline),
      std::string(kSplit),
      commented(kCat),
      commented(kThree),
      commented(kSplit),
      "skinning.method='linear'\r\nsimulation = { rate_hz = 3, seek.x = 1 }\r\n",
      "\t\"fps\"\t=\t0x1E # hex\n\t'skinning' . \"method\" = \"linear\"\n\tclip=\"\"\"\nthe "
      "\"clip\" # is\n"
      "no comment\"\"\"\"\n[ simulation ] # x\n[[layer]]# y\ntype='volume'#z",
      "\"\\u0066ps\" = 30\n[\"skinning\"]\n\"m\\u0065thod\" = 'linear'\n",
      "layer = []\n",
      "layer = [ # none\n]",
      "layer = [{type = 'volume', swell.group = 'x'}]",
      "layer = [{type = 'volume', swell = {group = 'x', percent = 1}}, {type = 'volume'}]\nfps = 3",
      "[[layer]]\ntype = 'volume'\nswell.group = 'a' # dotted\nswell.percent = 3\n[skinning]\n",
      "[[layer]]\ntype='volume'\n[[layer]]\ntype='volume'\n[[layer]]\ntype='volume'",
      "range_s = [\n  0, # from\n  # up to\n  2, # to\n  # end\n]\n",
  };
  std::erase_if(out, [](const std::string& t) { return !parseRecipe(t, "").ok(); });
  for (const auto& file : std::filesystem::directory_iterator(DERM_EXAMPLE_RECIPES)) {
    const auto bytes = readFile(file.path());
    EXPECT_TRUE(bytes.ok());
    out.emplace_back(bytes->begin(), bytes->end());
    out.push_back(commented(out.back()));
    std::string crlf;
    for (const char c : out.back()) crlf += c == '\n' ? "\r\n" : std::string(1, c);
    out.push_back("\xEF\xBB\xBF" + crlf);
  }
  return out;
}

std::size_t countOf(std::string_view text, char c) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), c));
}

TEST(RecipeText, AnyEditsOfAnyTextAreReadBackAsAsked) {
  const std::vector<std::string> texts = nastyTexts();
  ASSERT_GT(texts.size(), 30u);
  std::size_t done = 0;
  for (std::size_t t = 0; t < texts.size(); ++t)
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      RandomEdits edits(seed * 1000 + t);
      std::string text = texts[t];
      for (int n = 0; n < 15; ++n) {
        Recipe recipe = parsed(text);
        const bool takes_out = edits.apply(recipe);
        // Not all of these are good recipes; those must not be written.
        const Result<Recipe> wanted = parseRecipe(writeRecipe(recipe), "");
        const Result<std::string> now = editRecipe(text, recipe);
        ASSERT_EQ(now.ok(), wanted.ok()) << (now.ok() ? "" : now.error().text()) << "\n"
                                         << text << "\n->\n"
                                         << writeRecipe(recipe);
        if (!now.ok()) continue;
        ASSERT_EQ(parsed(*now), recipe) << text << "\n->\n" << *now;
        // Nothing gets lost on the way, and line ends do not mix.
        if (!takes_out) {
          ASSERT_GE(countOf(*now, '#'), countOf(text, '#')) << text << "\n->\n" << *now;
        }
        if (countOf(text, '\r') == countOf(text, '\n') && countOf(text, '\n') > 0) {
          ASSERT_EQ(countOf(*now, '\r'), countOf(*now, '\n')) << *now;
        }
        if (!text.empty() && !now->empty()) {
          ASSERT_EQ(now->ends_with('\n'), text.ends_with('\n')) << text << "\n->\n" << *now;
        }
        text = *now;
        ++done;
      }
    }
  EXPECT_GT(done, 1500u);
}

TEST(RecipeText, OneChangedValueOfAShippedRecipeIsOneChangedLine) {
  for (const auto& file : std::filesystem::directory_iterator(DERM_EXAMPLE_RECIPES)) {
    SCOPED_TRACE(file.path().filename().string());
    const auto bytes = readFile(file.path());
    ASSERT_TRUE(bytes.ok());
    const std::string text(bytes->begin(), bytes->end());
    const Recipe recipe = parsed(text);
    for (std::size_t l = 0; l < recipe.layers.size(); ++l)
      for (std::size_t k = 0; k < recipe.layers[l].keys.size(); ++k) {
        Recipe other = recipe;
        RecipeValue& value = other.layers[l].keys[k].value;
        if (auto* list = std::get_if<RecipeValue::List>(&value.content)) {
          if (!std::holds_alternative<double>(list->back().content)) continue;
          std::get<double>(list->back().content) += 1e-4;
        } else if (auto* number = std::get_if<double>(&value.content)) {
          *number += 1e-4;
        } else {
          continue;
        }
        const Result<std::string> now = editRecipe(text, other);
        if (!now.ok()) continue;  // such as shares that must sum to 1
        const std::vector<std::string> before = linesOf(text), after = linesOf(*now);
        ASSERT_EQ(before.size(), after.size());
        std::size_t differ = 0;
        for (std::size_t i = 0; i < before.size(); ++i) differ += before[i] != after[i] ? 1 : 0;
        EXPECT_EQ(differ, 1u) << other.layers[l].keys[k].key;
      }
  }
}

class RecipeFile : public testing_support::FolderTest {};

TEST_F(RecipeFile, SavingKeepsWhatPeopleWroteInto) {
  const std::filesystem::path file = folder_ / "cat.toml";
  Recipe recipe = parsed(kCat);
  ASSERT_TRUE(saveRecipe(file, recipe).ok());
  const auto bytes = [&] {
    const auto read = readFile(file);
    return read.ok() ? std::string(read->begin(), read->end()) : "";
  };
  EXPECT_EQ(bytes(), writeRecipe(recipe));
  ASSERT_TRUE(writeFileWhole(file, kCat).ok());
  recipe.fps = 24;
  ASSERT_TRUE(saveRecipe(file, recipe).ok());
  EXPECT_EQ(bytes(), replaced(kCat, "fps = 30", "fps = 24"));
  // What is no recipe is not worth keeping.
  ASSERT_TRUE(writeFileWhole(file, std::string_view("not = a recipe")).ok());
  ASSERT_TRUE(saveRecipe(file, recipe).ok());
  EXPECT_EQ(bytes(), writeRecipe(recipe));
}

}  // namespace
}  // namespace derm::recipe_text_test
