// The keys of the layer "volume".
#include <memory>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/scene/recipe.h"
#include "derm/scene/scene.h"
#include "derm/volume/volume_layer.h"

namespace derm::volume_parameters_test {
namespace {

std::string errorOf(const std::string& keys) {
  const auto recipe =
      parseRecipe("character = \"cast:arm\"\n[[layer]]\ntype = \"volume\"\n" + keys, "r.toml");
  return recipe ? std::string() : recipe.error().text();
}

Result<Scene> opened(const std::string& keys) {
  // Made once: sculpting takes a while.
  static const auto arm = std::make_shared<const Character>(makeCastMember("arm").value());
  Diagnostics notes;
  DERM_TRY(const Recipe recipe,
           parseRecipe("character = \"cast:arm\"\nclip = \"flex\"\n[skinning]\nmethod = "
                       "\"centre\"\n[[layer]]\ntype = \"volume\"\n" +
                           keys,
                       "r.toml"));
  return openScene(recipe, {.character = arm}, notes);
}

TEST(VolumeParameters, TakeEveryKeyOfTheManual) {
  const auto scene = opened(R"(preset = "default"
method = "section"
exact = true
regions = "joints"
mask = "everywhere"
a = 15
b = 8
kappa = 5.0
energy = "stated"
axis_shares = [1, 2, 0]
axis_order = "zxy"
max_change = 0.5
beta = 0.3
epsilon = 0.05
sigma = 0.03
)");
  ASSERT_TRUE(scene.ok()) << scene.error().text();
}

TEST(VolumeParameters, EveryPresetAndMethodOpens) {
  for (const char* preset : {"default", "local", "tube", "shape", "rubber", "fidelity", "flesh",
                             "muscle", "exact-axes"}) {
    const auto scene = opened("preset = \"" + std::string(preset) + "\"\n");
    EXPECT_TRUE(scene.ok()) << preset << ": " << (scene.ok() ? "" : scene.error().text());
  }
  for (const char* method :
       {"section", "axes-linear", "axes-exact", "gradient", "normal", "laplacian"}) {
    const auto scene = opened("method = \"" + std::string(method) + "\"\n");
    EXPECT_TRUE(scene.ok()) << method << ": " << (scene.ok() ? "" : scene.error().text());
  }
}

TEST(VolumeParameters, KeysBesideAPresetChangeIt) {
  Scene local = opened("preset = \"local\"\n").value();
  Scene merged = opened("preset = \"local\"\nbeta = 0.0\n").value();
  const auto count = [](const Scene& scene) {
    return dynamic_cast<const VolumeLayerBinding&>(*scene.stack().layers().back()).regions().size();
  };
  EXPECT_LT(count(merged), count(local));
}

TEST(VolumeParameters, AxesAndTheEnergyReachTheMethod) {
  const auto moved = [](const std::string& keys) {
    Scene scene = opened("regions = \"whole\"\nmask = \"everywhere\"\n" + keys).value();
    const auto positions = scene.playback().frameAt(1.0).positions();
    return std::vector<Vec3f>(positions.begin(), positions.end());
  };
  const std::string axes = "method = \"axes-exact\"\n";
  const auto plain = moved(axes);
  EXPECT_NE(plain, moved(axes + "axis_order = \"zyx\"\n"));
  EXPECT_NE(plain, moved(axes + "axis_shares = [1, 0, 0]\n"));
  EXPECT_EQ(plain, moved(axes + "axis_shares = [2, 2, 2]\naxis_order = \"xyz\"\n"));
  const std::string bending = "method = \"laplacian\"\nexact = false\n";
  EXPECT_NE(moved(bending), moved(bending + "energy = \"stated\"\n"));
  const auto refused = [](const std::string& keys, const char* says) {
    const auto scene = opened(keys);
    ASSERT_FALSE(scene.ok()) << keys;
    EXPECT_NE(scene.error().text().find(says), std::string::npos) << scene.error().text();
  };
  refused("axis_order = \"xyy\"\n", "once each");
  refused("axis_shares = [0, 0, 0]\n", "above 0");
  refused("axis_shares = [1, 1]\n", "axis_shares");
}

TEST(VolumeParameters, MistakesNameKeyAndNearestWord) {
  EXPECT_NE(errorOf("methode = \"section\"").find("did you mean \"method\"?"), std::string::npos);
  EXPECT_NE(errorOf("method = \"sections\"").find("did you mean \"section\"?"), std::string::npos);
  EXPECT_NE(errorOf("regions = \"joint\"").find("did you mean \"joints\"?"), std::string::npos);
  EXPECT_NE(errorOf("regions = []").find("regions"), std::string::npos);
  EXPECT_NE(errorOf("mask = \"wieghts\"").find("weights"), std::string::npos);
  EXPECT_NE(errorOf("where = \"weights\"").find("did you mean \"mask\"?"), std::string::npos);
  EXPECT_NE(errorOf("beta = 2").find("beta"), std::string::npos);
  // Centres are those of the skinning below: its keys are the only ones.
  EXPECT_NE(errorOf("alpha = 0.25").find("[skinning] alpha"), std::string::npos);
  EXPECT_NE(errorOf("twist_spread = \"none\"").find("[skinning] twist_spread"), std::string::npos);
  EXPECT_NE(errorOf("max_change = 0").find("max_change"), std::string::npos);
  EXPECT_NE(errorOf("swell = { group = \"x\", to_deg = 0 }").find("to_deg"), std::string::npos);
}

TEST(VolumeParameters, GroupsThatDoNotExistAreNamedWhenTheCharacterIsKnown) {
  for (const char* keys :
       {"regions = [\"nobody\"]\n", "fixed = \"group:nobody\"\n", "mask = \"group:nobody\"\n"}) {
    const auto scene = opened(keys);
    ASSERT_FALSE(scene.ok()) << keys;
    EXPECT_NE(scene.error().text().find("nobody"), std::string::npos) << scene.error().text();
  }
}

}  // namespace
}  // namespace derm::volume_parameters_test
