#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace derm::cli_test::studio_test {
namespace {

constexpr const char* kSlot = "<script type=\"application/json\" id=\"scene\">";

nlohmann::json sceneIn(const std::string& page) {
  const std::size_t begin = page.find(kSlot) + std::string(kSlot).size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

class StudioPage : public testing::Test {
 protected:
  void SetUp() override { write(page, std::string("<p>") + kSlot + "</script></p>"); }
  Outcome studio(const std::string& input) {
    return derm({"studio", input, "--page", page, "--no-open", "-o", out});
  }

  Folder folder;
  std::string page = folder / "page.html", out = folder / "out.html";
};

TEST_F(StudioPage, HoldsARecipeWithItsFiles) {
  ASSERT_EQ(derm({"cast", "cylinder", "-o", folder / "c.glb"}).exit_code, 0);
  const std::string recipe = "# </script> is no end\ncharacter = \"c.glb\"\nfps = 30\n";
  write(folder / "look.toml", recipe);
  const Outcome o = studio(folder / "look.toml");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const nlohmann::json scene = sceneIn(contentOf(out));
  EXPECT_EQ(scene["name"], "look.toml");
  EXPECT_EQ(scene["recipe"], recipe);
  EXPECT_EQ(scene["files"]["c.glb"].get<std::string>().substr(0, 4), "Z2xU");  // "glTF"
}

TEST_F(StudioPage, HoldsWhatFacesAndLayersRead) {
  for (const char* file : {"take.bvh", "names.txt", "frown.png"}) write(folder / file, "any");
  write(folder / "face.toml", R"(character = "cast:head-a"

[[face.motion]]
source = "take.bvh"
map = "names.txt"

[[layer]]
type = "detail"
poses = { name = "frown", expression = "anger", map = "frown.png" }
)");
  const Outcome o = studio(folder / "face.toml");
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const nlohmann::json scene = sceneIn(contentOf(out));
  for (const char* file : {"take.bvh", "names.txt", "frown.png"})
    EXPECT_TRUE(scene["files"].contains(file)) << file;
}

TEST_F(StudioPage, TakesCharactersAsTheyAreOrAsGlb) {
  ASSERT_EQ(studio("cast:cat").exit_code, 0);
  EXPECT_EQ(sceneIn(contentOf(out))["recipe"], "character = \"cast:cat\"\n");
  ASSERT_EQ(derm({"cast", "cylinder", "-o", folder / "c.gltf"}).exit_code, 0);
  ASSERT_EQ(studio(folder / "c.gltf").exit_code, 0);
  EXPECT_EQ(sceneIn(contentOf(out))["recipe"], "character = \"c.glb\"\n");
}

TEST_F(StudioPage, WithoutAPageOrInputItSaysSo) {
  EXPECT_EQ(studio(folder / "no.toml").exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(out));
  write(page, "<p>something else</p>");
  EXPECT_EQ(studio("cast:cat").exit_code, 1);
  EXPECT_EQ(derm({"studio", "--page", folder / "none.html", "--no-open", "-o", out}).exit_code, 1);
}

}  // namespace
}  // namespace derm::cli_test::studio_test
