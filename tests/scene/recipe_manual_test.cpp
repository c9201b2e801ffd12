// The manual lists every key of every layer.
#include <string>

#include <gtest/gtest.h>

#include "derm/io/file_bytes.h"
#include "derm/scene/layer_types.h"

namespace derm::recipe_manual_test {
namespace {

std::string page(const std::string& name) {
  const auto bytes = readFile(std::string(DERM_MANUAL) + "/" + name).value();
  return {bytes.begin(), bytes.end()};
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST(RecipeManual, VolumesPageHasARowForEveryKeyWithRangeAndDefault) {
  const std::string manual = page("volume.md");
  const auto parameters = builtInLayerTypes().find("volume")->make();
  std::string missing;
  for (const FieldInfo& f : listFields([&](RecipeFields& r) { parameters->fields(r); })) {
    const std::string preset = f.preset.empty() ? "" : "`" + f.preset + "`";
    const std::string row = replaced(
        "| `" + f.key + "` | " + f.expected + " | " + preset + " | " + f.help + " |", "\n", " ");
    if (manual.find(row + "\n") == std::string::npos) missing += row + "\n";
  }
  EXPECT_EQ(missing, "") << "put these rows into the table of keys";
}

TEST(RecipeManual, EveryKeyOfEveryLayerStandsOnItsPage) {
  for (const std::string& type : builtInLayerTypes().names()) {
    const std::string manual = page(type + ".md");
    const auto parameters = builtInLayerTypes().find(type)->make();
    for (const FieldInfo& f : listFields([&](RecipeFields& r) { parameters->fields(r); }))
      EXPECT_TRUE(manual.find("`" + f.key) != std::string::npos ||
                  manual.find("\n" + f.key + " =") != std::string::npos ||
                  manual.find(" " + f.key + " =") != std::string::npos)
          << type << ".md has no word about " << f.key;
  }
}

}  // namespace
}  // namespace derm::recipe_manual_test
