#include "derm/image/grey8_image.h"

#include <gtest/gtest.h>

namespace derm::grey8_image_test {
namespace {

TEST(Grey8Image, WeighsColoursAsCamerasDoAndKeepsGreys) {
  Rgba8Image image(4, 1);
  image.pixels = {{255, 255, 255, 255}, {255, 0, 0, 255}, {0, 255, 0, 0}, {77, 77, 77, 255}};
  Grey8Image grey;
  toGrey(image, grey);
  EXPECT_EQ(grey.width, 4);
  EXPECT_EQ(grey.height, 1);
  EXPECT_EQ(grey.pixels, (std::vector<std::uint8_t>{255, 76, 150, 77}));
}

}  // namespace
}  // namespace derm::grey8_image_test
