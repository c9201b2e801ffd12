#include "derm/io/photo_file.h"

#include <vector>

#include <gtest/gtest.h>

namespace derm::photo_file_test {
namespace {

/// A JPEG's head with Exif data, in one or the other byte order.
std::vector<std::uint8_t> headOf(int orientation, bool little) {
  const auto two = [&](int v) {
    const auto high = static_cast<std::uint8_t>(v >> 8), low = static_cast<std::uint8_t>(v & 255);
    return little ? std::vector<std::uint8_t>{low, high} : std::vector<std::uint8_t>{high, low};
  };
  std::vector<std::uint8_t> tiff = {static_cast<std::uint8_t>(little ? 'I' : 'M'),
                                    static_cast<std::uint8_t>(little ? 'I' : 'M')};
  const auto add = [&](const std::vector<std::uint8_t>& v) {
    tiff.insert(tiff.end(), v.begin(), v.end());
  };
  add(two(42));
  if (!little) add({0, 0});
  add(two(8));
  if (little) add({0, 0});
  add(two(2));  // entries
  add(two(271)), add(two(2)), add({0, 0, 0, 0, 0, 0, 0, 0});
  add(two(274)), add(two(3)), add({0, 0, 0, 0});
  add(two(orientation)), add({0, 0});
  std::vector<std::uint8_t> out = {0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xE1};
  const std::size_t length = 2 + 6 + tiff.size();
  out.push_back(static_cast<std::uint8_t>(length >> 8));
  out.push_back(static_cast<std::uint8_t>(length & 255));
  for (const char c : {'E', 'x', 'i', 'f', '\0', '\0'}) out.push_back(static_cast<std::uint8_t>(c));
  out.insert(out.end(), tiff.begin(), tiff.end());
  return out;
}

TEST(PhotoFile, OrientationIsReadInBothByteOrders) {
  for (int o = 1; o <= 8; ++o)
    for (const bool little : {false, true}) EXPECT_EQ(exifOrientation(headOf(o, little)), o);
  std::vector<std::uint8_t> filled = headOf(6, true);
  filled.insert(filled.begin() + 8, 2, std::uint8_t{0xFF});  // fill bytes before the marker
  EXPECT_EQ(exifOrientation(filled), 6);
  EXPECT_EQ(exifOrientation(headOf(9, true)), 1);
  EXPECT_EQ(exifOrientation({}), 1);
}

TEST(PhotoFile, EveryTruncationIsUpright) {
  const std::vector<std::uint8_t> whole = headOf(6, true);
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_EQ(exifOrientation(std::span(whole).first(n)), 1) << n;
}

TEST(PhotoFile, PicturesAreTurnedUpright) {
  // a b
  // c d
  // e f
  FloatImage image(2, 3, 1);
  image.values = {1, 2, 3, 4, 5, 6};
  const auto values = [&](int o) { return upright(image, o).values; };
  EXPECT_EQ(values(1), image.values);
  EXPECT_EQ(values(2), (std::vector<float>{2, 1, 4, 3, 6, 5}));
  EXPECT_EQ(values(3), (std::vector<float>{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(values(4), (std::vector<float>{5, 6, 3, 4, 1, 2}));
  EXPECT_EQ(values(5), (std::vector<float>{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(values(6), (std::vector<float>{5, 3, 1, 6, 4, 2})) << "turned right to be upright";
  EXPECT_EQ(values(7), (std::vector<float>{6, 4, 2, 5, 3, 1}));
  EXPECT_EQ(values(8), (std::vector<float>{2, 4, 6, 1, 3, 5})) << "turned left";
  EXPECT_EQ(upright(image, 6).width, 3);
}

}  // namespace
}  // namespace derm::photo_file_test
