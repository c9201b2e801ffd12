#include "derm/io/image_file.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <jpeglib.h>

#include "derm/base/rng.h"
#include "derm/io/png.h"

#include "io/jpeg.h"
#include "support/compare.h"

namespace derm::image_file_test {
namespace {

Rgba8Image gradientPicture(int width, int height) {
  Rgba8Image out(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      out.at(x, y) = {std::uint8_t(255 * x / width), std::uint8_t(255 * y / height), 90, 255};
  return out;
}

std::vector<std::uint8_t> jpegOf(const Rgba8Image& image, bool progressive, J_COLOR_SPACE space) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &data, &size);
  info.image_width = JDIMENSION(image.width);
  info.image_height = JDIMENSION(image.height);
  info.input_components = space == JCS_CMYK ? 4 : space == JCS_GRAYSCALE ? 1 : 3;
  info.in_color_space = space;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 95, TRUE);
  if (progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  std::vector<JSAMPLE> row;
  while (info.next_scanline < info.image_height) {
    row.clear();
    for (int x = 0; x < image.width; ++x) {
      const Rgba8 p = image.at(x, int(info.next_scanline));
      if (space == JCS_CMYK) {  // Adobe's inverted sense, no black
        row.insert(row.end(), {p.r, p.g, p.b, JSAMPLE{255}});
      } else if (space == JCS_GRAYSCALE) {
        row.push_back(p.g);
      } else {
        row.insert(row.end(), {p.r, p.g, p.b});
      }
    }
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&info, &pointer, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::vector<std::uint8_t> out(data, data + size);
  std::free(data);
  return out;
}

void expectNear(const Rgba8Image& a, const Rgba8Image& b, int max) {
  ASSERT_EQ(a.width, b.width);
  ASSERT_EQ(a.height, b.height);
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    EXPECT_LE(std::abs(a.pixels[i].r - b.pixels[i].r), max) << i;
    EXPECT_LE(std::abs(a.pixels[i].g - b.pixels[i].g), max) << i;
  }
}

TEST(Jpeg, BaselineAndProgressiveAreReadWithinWhatJpegLoses) {
  const Rgba8Image image = gradientPicture(40, 24);
  for (const bool progressive : {false, true}) {
    const auto back = detail::decodeJpeg(jpegOf(image, progressive, JCS_RGB), "memory");
    ASSERT_TRUE(back.ok()) << back.error().text();
    expectNear(*back, image, 24);
  }
}

TEST(Jpeg, GreyAndCmykBecomeRgb) {
  const Rgba8Image image = gradientPicture(40, 24);
  const auto grey = detail::decodeJpeg(jpegOf(image, false, JCS_GRAYSCALE), "grey");
  ASSERT_TRUE(grey.ok());
  EXPECT_EQ(grey->at(9, 9).r, grey->at(9, 9).b);
  EXPECT_NEAR(grey->at(9, 9).r, image.at(9, 9).g, 8);
  const auto cmyk = detail::decodeJpeg(jpegOf(image, false, JCS_CMYK), "cmyk");
  ASSERT_TRUE(cmyk.ok()) << cmyk.error().text();
  expectNear(*cmyk, image, 24);
}

TEST(Jpeg, EveryTruncationIsAnError) {
  for (const bool progressive : {false, true}) {
    const std::vector<std::uint8_t> whole = jpegOf(gradientPicture(24, 16), progressive, JCS_RGB);
    // The end marker itself (2 bytes) may be missing without loss of a pixel.
    for (std::size_t n = 0; n + 2 < whole.size(); ++n)
      EXPECT_FALSE(detail::decodeJpeg(std::span(whole).first(n), "cut").ok())
          << n << " of " << whole.size();
  }
}

TEST(Jpeg, NoSingleChangedByteDoesHarm) {
  const std::vector<std::uint8_t> whole = jpegOf(gradientPicture(24, 16), true, JCS_RGB);
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (const std::uint8_t flip : {std::uint8_t{0x01}, std::uint8_t{0x80}, std::uint8_t{0xFF}}) {
      std::vector<std::uint8_t> bytes = whole;
      bytes[i] ^= flip;
      const auto result = detail::decodeJpeg(bytes, "flipped");
      if (result.ok()) {
        EXPECT_FALSE(result->empty());
      }
    }
}

TEST(ImageFile, TheFirstBytesTellTheFormatWhateverTheName) {
  const Rgba8Image image = gradientPicture(8, 8);
  EXPECT_TRUE(decodeImage(encodePng(image), "x.jpg").ok());
  EXPECT_TRUE(decodeImage(jpegOf(image, false, JCS_RGB), "x.png").ok());
}

TEST(ImageFile, OtherFormatsAreNamedInTheError) {
  const auto error = [](std::string_view text) {
    return decodeImage(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()),
                       "t")
        .error();
  };
  using namespace std::string_view_literals;
  EXPECT_NE(error("RIFF\0\0\0\0WEBPVP8 "sv).message.find("WebP"), std::string::npos);
  EXPECT_NE(error("\xABKTX 20\xBB"sv).message.find("KTX2"), std::string::npos);
  EXPECT_EQ(error(""sv).code, ErrorCode::Unsupported);
  EXPECT_EQ(error("hello"sv).where.file, "t");
}

TEST(ImageFile, RealPhotographsAreRead) {
  DERM_DATA_OR_SKIP(folder, "skin-photos");
  int read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".png" && ending != ".jpg") continue;
    const auto image = loadImage(entry.path());
    ASSERT_TRUE(image.ok()) << image.error().text();
    EXPECT_GT(image->width, 100);
    ++read;
  }
  EXPECT_GE(read, 2);
}

TEST(ImageFile, AMissingFileIsNamed) {
  const auto image = loadImage("no/such/picture.png");
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().code, ErrorCode::CannotRead);
  EXPECT_EQ(image.error().where.file, "no/such/picture.png");
}

TEST(ImageFile, FloatsHaveAllThatIsInAPngOf16BitsAndThreeChannelsOfAJpeg) {
  UInt16Image heights(2, 1, 1);
  heights.values = {1, 65534};  // lost in 8 bits
  const std::vector<std::uint8_t> png = encodePng16(heights, Curve::Linear);
  const auto linear = decodeFloatImage(png, "h.png", Curve::Linear);
  ASSERT_TRUE(linear.ok()) << linear.error().text();
  EXPECT_EQ(linear->channels, 1);
  EXPECT_EQ(linear->values, (std::vector<float>{1 / 65535.0f, 65534 / 65535.0f}));
  EXPECT_EQ(decodeFloatImage(png, "h.png", Curve::Srgb)->values[0], linearFromSrgb(1 / 65535.0f));
  const std::vector<std::uint8_t> jpeg = jpegOf(gradientPicture(16, 8), false, JCS_RGB);
  const auto photo = decodeFloatImage(jpeg, "p.jpg", Curve::Srgb);
  ASSERT_TRUE(photo.ok()) << photo.error().text();
  EXPECT_EQ(photo->channels, 3);
  const Rgba8 corner = decodeImage(jpeg, "p.jpg")->at(15, 7);
  EXPECT_EQ(photo->at(15, 7, 0), linearColour(corner).x());
  EXPECT_FALSE(decodeFloatImage(std::span(png).first(20), "cut.png", Curve::Linear).ok());
}

}  // namespace
}  // namespace derm::image_file_test
