#include "derm/io/png.h"

#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>
#include <png.h>
#include <zlib.h>

#include "derm/base/rng.h"
#include "derm/io/file_bytes.h"

namespace derm::png_test {
namespace {

Rgba8Image noisePicture(int width, int height, bool with_alpha) {
  Rng rng(7);
  Rgba8Image out(width, height);
  for (Rgba8& p : out.pixels) {
    const std::uint64_t bits = rng.next();
    p = {std::uint8_t(bits), std::uint8_t(bits >> 8), std::uint8_t(bits >> 16),
         with_alpha ? std::uint8_t(bits >> 24) : std::uint8_t{255}};
  }
  return out;
}

/// A PNG as another program might write it, straight from libpng.
struct PngKind {
  int colour_type;
  int bits;
  bool interlaced;
};

std::vector<std::uint8_t> writeKind(const PngKind& kind, int width, int height,
                                    const std::vector<std::vector<std::uint8_t>>& rows,
                                    const std::vector<png_color>& palette = {},
                                    const std::vector<std::uint8_t>& palette_alpha = {}) {
  std::vector<std::uint8_t> bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &bytes,
      [](png_structp p, png_bytep data, std::size_t n) {
        auto* out = static_cast<std::vector<std::uint8_t>*>(png_get_io_ptr(p));
        out->insert(out->end(), data, data + n);
      },
      nullptr);
  png_set_IHDR(png, info, png_uint_32(width), png_uint_32(height), kind.bits, kind.colour_type,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!palette.empty()) png_set_PLTE(png, info, palette.data(), int(palette.size()));
  if (!palette_alpha.empty())
    png_set_tRNS(png, info, palette_alpha.data(), int(palette_alpha.size()), nullptr);
  std::vector<png_bytep> pointers;
  for (const auto& row : rows) pointers.push_back(const_cast<png_bytep>(row.data()));
  png_set_rows(png, info, pointers.data());
  png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

TEST(Png, WhatIsWrittenIsReadBackExactly) {
  for (const bool with_alpha : {false, true})
    for (const auto& [w, h] : {std::pair{1, 1}, {7, 5}, {64, 33}}) {
      const Rgba8Image image = noisePicture(w, h, with_alpha);
      const auto back = decodePng(encodePng(image), "memory");
      ASSERT_TRUE(back.ok()) << back.error().text();
      EXPECT_EQ(*back, image);
      EXPECT_EQ(encodePng(image), encodePng(image));
    }
}

TEST(Png, GreyPaletteAndSixteenBitsBecomeRgba) {
  const auto grey =
      decodePng(writeKind({PNG_COLOR_TYPE_GRAY, 8, false}, 2, 1, {{0x20, 0xC0}}), "grey");
  ASSERT_TRUE(grey.ok());
  EXPECT_EQ(grey->at(1, 0), (Rgba8{0xC0, 0xC0, 0xC0, 255}));

  const auto bits =
      decodePng(writeKind({PNG_COLOR_TYPE_GRAY, 1, false}, 3, 1, {{0b10100000}}), "1");
  ASSERT_TRUE(bits.ok());
  EXPECT_EQ(bits->at(0, 0).r, 255);
  EXPECT_EQ(bits->at(1, 0).r, 0);

  const auto deep = decodePng(
      writeKind({PNG_COLOR_TYPE_RGB, 16, false}, 1, 1, {{0xFF, 0xFF, 0x80, 0x80, 0x00, 0x00}}),
      "16");
  ASSERT_TRUE(deep.ok());
  EXPECT_EQ(deep->at(0, 0), (Rgba8{255, 0x80, 0, 255}));

  const auto indexed = decodePng(writeKind({PNG_COLOR_TYPE_PALETTE, 8, false}, 2, 1, {{1, 0}},
                                           {{10, 20, 30}, {40, 50, 60}}, {128}),
                                 "palette");
  ASSERT_TRUE(indexed.ok());
  EXPECT_EQ(indexed->at(0, 0), (Rgba8{40, 50, 60, 255}));
  EXPECT_EQ(indexed->at(1, 0), (Rgba8{10, 20, 30, 128}));

  std::vector<std::vector<std::uint8_t>> rows(9, std::vector<std::uint8_t>(9 * 3));
  for (std::size_t y = 0; y < 9; ++y)
    for (std::size_t x = 0; x < 27; ++x) rows[y][x] = std::uint8_t(y * 20 + x);
  const auto woven = decodePng(writeKind({PNG_COLOR_TYPE_RGB, 8, true}, 9, 9, rows), "interlaced");
  ASSERT_TRUE(woven.ok());
  EXPECT_EQ(woven->at(4, 7), (Rgba8{rows[7][12], rows[7][13], rows[7][14], 255}));
}

UInt16Image deepNoise(int width, int height, int channels) {
  Rng rng(11);
  UInt16Image out(width, height, channels);
  for (std::uint16_t& v : out.values) v = static_cast<std::uint16_t>(rng.next());
  return out;
}

TEST(Png, SixteenBitsComeBackExactlyInAllFourKinds) {
  for (const int channels : {1, 2, 3, 4})
    for (const auto& [w, h] : {std::pair{1, 1}, {7, 5}, {64, 33}})
      for (const Curve curve : {Curve::Linear, Curve::Srgb}) {
        const UInt16Image image = deepNoise(w, h, channels);
        const std::vector<std::uint8_t> bytes = encodePng16(image, curve);
        EXPECT_EQ(bytes[24], 16) << "bits of a channel";
        const auto back = decodePng16(bytes, "memory");
        ASSERT_TRUE(back.ok()) << back.error().text();
        EXPECT_EQ(*back, image);
        const std::string text(bytes.begin(), bytes.end());
        EXPECT_EQ(text.find("sRGB") != std::string::npos, curve == Curve::Srgb);
        EXPECT_EQ(text.find("gAMA") != std::string::npos, curve == Curve::Linear);
        // The 8-bit reader takes it too.
        EXPECT_EQ(decodePng(bytes, "memory")->width, w);
      }
}

TEST(Png, OtherProgramsSixteenBitsHaveTheirHighByteFirst) {
  const auto grey = decodePng16(
      writeKind({PNG_COLOR_TYPE_GRAY, 16, false}, 2, 1, {{0x12, 0x34, 0xFF, 0xFE}}), "grey");
  ASSERT_TRUE(grey.ok()) << grey.error().text();
  EXPECT_EQ(grey->channels, 1);
  EXPECT_EQ(grey->values, (std::vector<std::uint16_t>{0x1234, 0xFFFE}));
}

TEST(Png, FewerBitsAreWidenedSoThatOneStaysOne) {
  const auto bytes =
      decodePng16(writeKind({PNG_COLOR_TYPE_RGB, 8, false}, 1, 1, {{0, 0x80, 0xFF}}), "8");
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->values, (std::vector<std::uint16_t>{0, 0x8080, 0xFFFF}));
  const auto bits = decodePng16(writeKind({PNG_COLOR_TYPE_GRAY, 1, false}, 3, 1, {{0xA0}}), "1");
  ASSERT_TRUE(bits.ok());
  EXPECT_EQ(bits->values, (std::vector<std::uint16_t>{0xFFFF, 0, 0xFFFF}));
  const auto indexed = decodePng16(writeKind({PNG_COLOR_TYPE_PALETTE, 8, false}, 2, 1, {{1, 0}},
                                             {{10, 20, 30}, {40, 50, 60}}, {128}),
                                   "palette");
  ASSERT_TRUE(indexed.ok());
  EXPECT_EQ(indexed->channels, 4);
  EXPECT_EQ(indexed->at(1, 0, 0), 10 * 257);
  EXPECT_EQ(indexed->at(1, 0, 3), 128 * 257);
}

TEST(Png, EveryTruncationOfSixteenBitsIsAnError) {
  const std::vector<std::uint8_t> whole = encodePng16(deepNoise(9, 7, 3), Curve::Linear);
  for (std::size_t n = 0; n < whole.size(); ++n)
    ASSERT_FALSE(decodePng16(std::span(whole).first(n), "cut.png").ok()) << n;
}

TEST(Png, EveryTruncationIsAnErrorThatNamesTheFile) {
  const std::vector<std::uint8_t> whole = encodePng(noisePicture(9, 7, true));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const auto cut = decodePng(std::span(whole).first(n), "cut.png");
    ASSERT_FALSE(cut.ok()) << n;
    EXPECT_EQ(cut.error().where.file, "cut.png");
    EXPECT_LE(*cut.error().where.byte, n);
  }
}

TEST(Png, NoSingleChangedByteDoesHarm) {
  const std::vector<std::uint8_t> whole = encodePng(noisePicture(9, 7, true));
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (const std::uint8_t flip : {std::uint8_t{0x01}, std::uint8_t{0x80}, std::uint8_t{0xFF}}) {
      std::vector<std::uint8_t> bytes = whole;
      bytes[i] ^= flip;
      refused += !decodePng(bytes, "flipped").ok();
    }
  EXPECT_GT(refused, int(whole.size()));  // checksums find most
}

TEST(Png, AHeaderThatPromisesTooMuchIsRefusedBeforeMemoryIsTaken) {
  std::vector<std::uint8_t> bytes = encodePng(noisePicture(4, 4, false));
  const auto withSize = [&](std::uint32_t w, std::uint32_t h) {
    std::vector<std::uint8_t> out = bytes;
    for (int i = 0; i < 4; ++i) {
      out[std::size_t(16 + i)] = std::uint8_t(w >> (24 - 8 * i));
      out[std::size_t(20 + i)] = std::uint8_t(h >> (24 - 8 * i));
    }
    const auto crc = png_uint_32(crc32(0, out.data() + 12, 17));
    for (int i = 0; i < 4; ++i) out[std::size_t(29 + i)] = std::uint8_t(crc >> (24 - 8 * i));
    return out;
  };
  const auto huge = decodePng(withSize(60000, 60000), "huge");
  ASSERT_FALSE(huge.ok());
  EXPECT_NE(huge.error().message.find("60000x60000"), std::string::npos) << huge.error().text();
  const auto empty_promise = decodePng(withSize(8000, 8000), "promise");
  ASSERT_FALSE(empty_promise.ok());
  EXPECT_NE(empty_promise.error().message.find("promised"), std::string::npos)
      << empty_promise.error().text();
}

TEST(Png, SavingIntoAMissingFolderIsAnError) {
  const auto missing = std::filesystem::temp_directory_path() / "derm-no-such-folder" / "x.png";
  EXPECT_EQ(savePng(missing, noisePicture(2, 2, false)).error().code, ErrorCode::CannotWrite);
  EXPECT_EQ(savePng("x.png", Rgba8Image()).error().code, ErrorCode::BadArgument);
  EXPECT_EQ(savePng16("x.png", UInt16Image(), Curve::Linear).error().code, ErrorCode::BadArgument);
  EXPECT_EQ(savePng16(missing, deepNoise(2, 2, 1), Curve::Linear).error().code,
            ErrorCode::CannotWrite);
}

}  // namespace
}  // namespace derm::png_test
