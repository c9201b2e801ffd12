#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "derm/image/difference.h"
#include "derm/io/image_file.h"
#include "derm/io/png.h"

#include "render/golden_scenes.h"

/// Pictures against those in tests/golden. What may differ is in tests/golden/tolerances.txt; see
/// image/difference.h for how. A picture that is meant to change: tools/accept_goldens.sh.
namespace derm::golden::golden_test {
namespace {

namespace fs = std::filesystem;

struct Tolerance {
  DifferenceDesc difference;
  double max_over = 0;  ///< [0,1] share of pixels that may differ by more
};

Tolerance toleranceOf(const std::string& name) {
  std::ifstream file(fs::path(DERM_GOLDEN_DIR) / "tolerances.txt");
  EXPECT_TRUE(file.good()) << "tests/golden/tolerances.txt is missing";
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    Tolerance out;
    if (words >> key && key == name &&
        words >> out.difference.blur_radius_px >> out.difference.tolerance >> out.max_over)
      return out;
  }
  ADD_FAILURE() << "no line for \"" << name << "\" in tests/golden/tolerances.txt";
  return {};
}

class Golden : public ::testing::TestWithParam<Scene> {};

TEST_P(Golden, PictureIsUnchanged) {
  auto renderer = OffscreenRenderer::create();
  if (!renderer.ok()) GTEST_SKIP() << renderer.error().message;
  const std::string& name = GetParam().name;
  const auto actual = GetParam().draw(*renderer);
  ASSERT_TRUE(actual.ok()) << actual.error().text();
  const fs::path golden = fs::path(DERM_GOLDEN_DIR) / (name + ".png");
  if (std::getenv("DERM_ACCEPT_GOLDENS")) {
    ASSERT_TRUE(savePng(golden, *actual).ok());
    GTEST_SKIP() << "accepted as " << golden.string();
  }
  const fs::path out = DERM_GOLDEN_OUT;
  fs::create_directories(out);
  const auto keep = [&](const char* what, const Rgba8Image& image) {
    const fs::path file = out / (name + "." + what + ".png");
    EXPECT_TRUE(savePng(file, image).ok());
    return file.string();
  };
  const auto expected = loadImage(golden);
  if (!expected.ok())
    FAIL() << expected.error().text() << "\n  drawn: " << keep("actual", *actual)
           << "\n  tools/accept_goldens.sh takes it";
  const Tolerance tolerance = toleranceOf(name);
  const auto difference = compareImages(*expected, *actual, tolerance.difference);
  ASSERT_TRUE(difference.ok()) << difference.error().text() << "\n  " << keep("actual", *actual);
  RecordProperty("largest", difference->largest);
  if (difference->over_share > tolerance.max_over)
    ADD_FAILURE() << name << " has changed: " << 100 * difference->over_share
                  << " % of its pixels differ by more than " << tolerance.difference.tolerance
                  << " (largest " << difference->largest << ", mean " << difference->mean
                  << "), allowed are " << 100 * tolerance.max_over
                  << " %\n  golden: " << golden.string()
                  << "\n  actual: " << keep("actual", *actual)
                  << "\n  difference: " << keep("difference", difference->picture)
                  << "\n  drawn by " << renderer->driver()
                  << "\n  if that is meant: tools/accept_goldens.sh";
}

INSTANTIATE_TEST_SUITE_P(Pictures, Golden, ::testing::ValuesIn(scenes()),
                         [](const auto& scene) { return scene.param.name; });

/// The tolerances must not forgive what the eye sees: a part gone, another colour, a shifted shape.
TEST(GoldenTolerance, ASmallVisibleChangeIsFound) {
  auto renderer = OffscreenRenderer::create();
  if (!renderer.ok()) GTEST_SKIP() << renderer.error().message;
  for (const Scene& scene : scenes()) {
    SCOPED_TRACE(scene.name);
    const auto picture = scene.draw(*renderer);
    ASSERT_TRUE(picture.ok());
    const Tolerance tolerance = toleranceOf(scene.name);
    Rgba8Image patched = *picture;  // a patch of 5 % of the width and height, a little darker
    for (int y = patched.height / 2; y < patched.height / 2 + patched.height / 10; ++y)
      for (int x = patched.width / 2; x < patched.width / 2 + patched.width / 10; ++x) {
        Rgba8& p = patched.at(x, y);
        p = {std::uint8_t(p.r * 0.8), std::uint8_t(p.g * 0.8), std::uint8_t(p.b * 0.8), p.a};
      }
    EXPECT_GT(compareImages(*picture, patched, tolerance.difference)->over_share,
              tolerance.max_over);
    Rgba8Image shifted = cropped(*picture, 3, 0, picture->width, picture->height);
    EXPECT_GT(compareImages(*picture, shifted, tolerance.difference)->over_share,
              tolerance.max_over);
  }
}

}  // namespace
}  // namespace derm::golden::golden_test
