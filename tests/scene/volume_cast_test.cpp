// The corrections of Rohmer, Hahmann, Cani 2008 on the cast's own clips: every region gets its
// volume back in what comes out, as floats.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/scene/volume_study.h"

namespace derm::volume_cast_test {
namespace {

Recipe recipeFor(std::string_view member, std::string_view method, std::size_t clip) {
  Recipe recipe = defaultVolumeRecipe("cast:" + std::string(member));
  recipe.skinning = SkinningMethod::Linear;  // where there is most to give back
  recipe.layers[0].keys.push_back({.key = "method", .value = {.content = std::string(method)}});
  recipe.clip = static_cast<std::int64_t>(clip);
  recipe.fps = 2.5;
  return recipe;
}

TEST(VolumeOnTheCast, EveryExactMethodHoldsEveryRegionInEveryClip) {
  double worst = 0;
  for (const std::string_view member :
       {"cylinder", "arm", "trousers", "mushroom", "wrist", "cat"}) {
    SceneOptions options;
    options.character = std::make_shared<const Character>(makeCastMember(member).value());
    for (std::size_t clip = 0; clip < options.character->clips.size(); ++clip)
      for (const std::string_view method : {"axes-exact", "gradient", "normal", "laplacian"}) {
        SCOPED_TRACE(std::string(member) + " " + options.character->clips[clip].name + " " +
                     std::string(method));
        Diagnostics notes;
        const VolumeStudy study =
            studyVolume(recipeFor(member, method, clip), options, notes).value();
        EXPECT_LE(study.max_relative_error_after, 1e-5);
        worst = std::max(worst, study.max_relative_error_after);
        for (const VolumeStudy::Frame& frame : study.frames) {
          EXPECT_TRUE(std::isfinite(frame.after.volume_m3));
          for (const VolumeStudy::Region& region : frame.regions) EXPECT_TRUE(region.held);
        }
      }
  }
  std::printf("largest region error in float output: %.1e\n", worst);
}

}  // namespace
}  // namespace derm::volume_cast_test
