#include <gtest/gtest.h>

#include "derm/scene/recipe_fields.h"

namespace derm::recipe_tables_test {
namespace {

struct Bulge {
  RecipeName group;
  double percent = 10;

  bool operator==(const Bulge&) const = default;
};

FieldList fieldsOf(std::vector<Bulge>& bulges) {
  return [&bulges](RecipeFields& f) {
    f.tables(
        "swell", bulges,
        [](Bulge& b, RecipeFields& one) {
          one.name("group", b.group, NameKind::VertexGroup, "what swells");
          one.number("percent", b.percent, {.low = -99, .high = 1000, .unit = "%"}, "how much");
        },
        "muscles");
  };
}

RecipeValue bulge(const std::string& group, double percent, std::uint32_t line = 0) {
  RecipeValue::Table table;
  table.push_back({.key = "group", .value = {.content = group, .location = {line, 3}}});
  table.push_back({.key = "percent", .value = {.content = percent, .location = {line, 9}}});
  return {.content = table, .location = {line, 1}};
}

Result<std::vector<Bulge>> read(const RecipeValue& value) {
  std::vector<Bulge> out;
  RecipeValue::Table table;
  table.push_back({.key = "swell", .value = value});
  DERM_CHECK(readFields(table, "a.toml", "layer", fieldsOf(out)));
  return out;
}

TEST(RecipeTables, OneTableStandsForAListOfOne) {
  const auto alone = read(bulge("biceps", 12));
  ASSERT_TRUE(alone.ok());
  ASSERT_EQ(alone->size(), 1u);
  EXPECT_EQ((*alone)[0].group.text, "biceps");
  EXPECT_EQ((*alone)[0].percent, 12);
  const auto listed = read({.content = RecipeValue::List{bulge("biceps", 12)}});
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(*alone, *listed);
}

TEST(RecipeTables, WhatIsWrittenIsReadBack) {
  for (const std::size_t count : {0, 1, 3}) {
    std::vector<Bulge> bulges;
    for (std::size_t i = 0; i < count; ++i)
      bulges.push_back({{"group" + std::to_string(i), {}}, double(i) + 1});
    const RecipeValue::Table table = writeFields(fieldsOf(bulges));
    EXPECT_EQ(table.size(), count == 0 ? 0u : 1u);
    std::vector<Bulge> back;
    ASSERT_TRUE(readFields(table, "a.toml", "layer", fieldsOf(back)).ok());
    EXPECT_EQ(bulges, back);
  }
}

TEST(RecipeTables, ErrorsNameTheTableTheKeyAndTheLocation) {
  const auto range = read({.content = RecipeValue::List{bulge("a", 1, 4), bulge("b", -100, 5)}});
  ASSERT_FALSE(range.ok());
  EXPECT_EQ(range.error().where.element, "layer.swell[1].percent");
  EXPECT_EQ(range.error().where.line, 5u);

  RecipeValue odd = bulge("a", 1, 7);
  std::get<RecipeValue::Table>(odd.content).push_back({.key = "percnt", .value = {.content = 1.0}});
  const auto unknown = read(odd);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().where.element, "layer.swell.percnt");
  EXPECT_NE(unknown.error().message.find("percent"), std::string::npos);

  const auto plain = read({.content = 12.0, .location = {9, 2}});
  ASSERT_FALSE(plain.ok());
  EXPECT_EQ(plain.error().message,
            "expected a table { group, percent }, or a list of such tables, found 12.0");
}

TEST(RecipeTables, AreListedForTheManual) {
  std::vector<Bulge> none;
  const std::vector<FieldInfo> fields = listFields(fieldsOf(none));
  ASSERT_EQ(fields.size(), 1u);
  EXPECT_EQ(fields[0].key, "swell");
  EXPECT_EQ(fields[0].preset, "");
  EXPECT_EQ(fields[0].expected, "a table { group, percent }, or a list of such tables");
}

}  // namespace
}  // namespace derm::recipe_tables_test
