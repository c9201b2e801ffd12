#include "scene/toml_edit.h"

#include <string>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

#include "scene/toml_text.h"

namespace derm::detail::toml_edit_test {
namespace {

RecipeValue::Table parsed(std::string_view text) {
  Result<RecipeValue::Table> table = parseToml(text, "t.toml");
  EXPECT_TRUE(table.ok()) << (table.ok() ? "" : table.error().text()) << "\n" << text;
  return table.ok() ? *table : RecipeValue::Table();
}

/// The text after it is made to hold what another text holds.
std::string edited(std::string_view text, std::string_view wanted) {
  const RecipeValue::Table target = parsed(wanted);
  const Result<std::string> out =
      editToml(text, parsed(text), {.table = target, .list = {}, .origins = {}});
  EXPECT_TRUE(out.ok());
  if (!out.ok()) return "";
  EXPECT_TRUE(sameKeys(parsed(*out), target)) << *out;
  return *out;
}

TEST(TomlEdit, ATableOfTablesGetsAHeaderOfItsOwn) {
  EXPECT_EQ(edited("# of b\n[a.b]\nx = 1\n", "[a]\nk = 2\nl = 3\nb.x = 1\n"),
            "[a]\nk = 2\nl = 3\n\n# of b\n[a.b]\nx = 1\n");
}

TEST(TomlEdit, ListsOfTablesGrowAndShrinkByNumber) {
  const std::string_view two = "[[c]] # 0\nx = 1\n\n# of 1\n[[c]]\nx = 2\n";
  EXPECT_EQ(edited(two, "c = [{x = 1}, {x = 3}, {y = 0}]"),
            "[[c]] # 0\nx = 1\n\n# of 1\n[[c]]\nx = 3\n\n[[c]]\ny = 0\n");
  EXPECT_EQ(edited(two, "c = [{x = 1}]"), "[[c]] # 0\nx = 1\n");
  EXPECT_EQ(edited(two, "c = []"), "c = []\n");
  EXPECT_EQ(edited("k = 1\n", "k = 1\nc = [{x = 1}, {x = 2}]"),
            "k = 1\n\n[[c]]\nx = 1\n\n[[c]]\nx = 2\n");
}

TEST(TomlEdit, KindsChange) {
  EXPECT_EQ(edited("a = 1 # one\n", "a.b = 2"), "a = { b = 2 } # one\n");
  EXPECT_EQ(edited("k = 1\n[a]\nb = 2\n", "k = 1\na = 3"), "k = 1\na = 3\n");
  EXPECT_EQ(edited("a.b = 2\na.c = 3\nk = 1\n", "k = 1\na = 3"), "k = 1\na = 3\n");
}

TEST(TomlEdit, DottedKeysInBracesStay) {
  EXPECT_EQ(edited("a = { b.c = 1, 'b' . d = 2 }\n", "a = { b = { c = 1, d = 3, e = 4 }, f = 5 }"),
            "a = { b.c = 1, 'b' . d = 3, b.e = 4, f = 5 }\n");
  EXPECT_EQ(edited("a = { b.c = 1, b.d = 2 }\n", "a = { b = 7 }"), "a = { b = 7 }\n");
}

/// Changes a table at random, at any depth.
class RandomTables {
 public:
  explicit RandomTables(std::uint64_t seed) : rng_(seed) {}

  void change(RecipeValue::Table& table) {
    const std::uint64_t what = rng_.below(4);
    if (what == 0 || table.empty()) {
      const std::string key = "k" + std::to_string(rng_.below(6));
      if (find(table, key) == nullptr)
        table.push_back({.key = key, .value = value(2), .location = {}});
      return;
    }
    RecipeEntry& e = table[rng_.below(table.size())];
    if (what == 1)
      table.erase(table.begin() + (&e - table.data()));
    else if (what == 2)
      change(e.value);
    else
      e.value = value(2);
  }

 private:
  void change(RecipeValue& v) {
    if (auto* table = std::get_if<RecipeValue::Table>(&v.content)) {
      change(*table);
    } else if (auto* list = std::get_if<RecipeValue::List>(&v.content)) {
      const std::size_t at = rng_.below(list->size() + 1);
      const std::uint64_t what = rng_.below(3);
      if (what == 0 || at == list->size())
        list->insert(list->begin() + std::ptrdiff_t(at), value(1));
      else if (what == 1)
        list->erase(list->begin() + std::ptrdiff_t(at));
      else
        change((*list)[at]);
    } else {
      v = value(0);
    }
  }
  RecipeValue value(int depth) {
    switch (rng_.below(depth > 0 ? 6 : 4)) {
      case 0:
        return {.content = rng_.below(2) == 0, .location = {}};
      case 1:
        return {.content = std::int64_t(rng_.below(100)) - 50, .location = {}};
      case 2:
        return {.content = rng_.uniform(-1, 1), .location = {}};
      case 3:
        return {.content = std::string(rng_.below(2) == 0 ? "it's # \"x\"" : "\t\\"),
                .location = {}};
      case 4: {
        RecipeValue::List list;
        for (std::uint64_t n = rng_.below(3); n-- > 0;) list.push_back(value(depth - 1));
        return {.content = std::move(list), .location = {}};
      }
      default: {
        RecipeValue::Table table;
        for (std::uint64_t n = rng_.below(3); n-- > 0;)
          table.push_back(
              {.key = "#" + std::to_string(n), .value = value(depth - 1), .location = {}});
        return {.content = std::move(table), .location = {}};
      }
    }
  }

  Rng rng_;
};

TEST(TomlEdit, AnyTableCanBePutIntoAnyText) {
  const std::vector<std::string_view> texts = {
      "",
      "# only this",
      "a = 1\r\nb.c = [1, 2,\r\n 3] # x\r\n'b' . d = { e.f = 1, g = [ {h = 1} ] }",
      "[a.b.c]\nx = 1\n[a]\ny = 2\n# of d\n[[a.d]]\n[[a.d.e]]\nz = 3\n[[a.d]]\n[a.d.f]\n\n# end",
      "[[a]]\n[[a.b]]\nx = 1\n[[a.b]]\n[[a]]\n[other]\n[a.c]\ny = '''\n# no comment\n'''\n",
      "l = [ # a\n  # b\n  1, # c\n  [ # d\n    2 ], 3\n  # e\n]\n[t]\nl = [\n]\n",
      "\"a b\".'c.d'.e = \"\"\"\"x\"\"\"\"\"\n\"\\u0041\" = 0b1_0\n[ \"a b\" . f ]#\n[[ g "
      "]]\n[[g]]\n",
  };
  for (std::size_t t = 0; t < texts.size(); ++t)
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      RandomTables random(1000 * seed + t);
      std::string text(texts[t]);
      for (int n = 0; n < 12; ++n) {
        RecipeValue::Table target = parsed(text);
        for (std::uint64_t changes = 0; changes <= seed % 4; ++changes) random.change(target);
        const Result<std::string> now =
            editToml(text, parsed(text), {.table = target, .list = {}, .origins = {}});
        ASSERT_TRUE(now.ok());
        ASSERT_TRUE(sameKeys(parsed(*now), target)) << text << "\n->\n"
                                                    << toToml({.content = target}) << "\n->\n"
                                                    << *now;
        text = *now;
      }
    }
}

}  // namespace
}  // namespace derm::detail::toml_edit_test
