#include "derm/io/film_reader.h"

#include <cmath>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "derm/io/file_bytes.h"
#include "derm/io/film.h"

#include "support/test_folder.h"

namespace derm::film_reader_test {
namespace {

namespace fs = std::filesystem;

constexpr int kWidth = 64;
constexpr int kHeight = 48;

/// Smooth, and another one each time: red grows to the right, a bright bar moves down.
Rgba8Image testFrame(std::size_t i) {
  Rgba8Image out(kWidth, kHeight);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const double bar = std::exp(-0.02 * std::pow(y - 4.0 * double(i), 2));
      out.at(x, y) = {std::uint8_t(40 + 2 * x), std::uint8_t(60 + 150 * bar), 90, 255};
    }
  return out;
}

double psnr(const Rgba8Image& a, const Rgba8Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    const auto add = [&](int u, int v) { sum += double((u - v) * (u - v)); };
    add(a.pixels[i].r, b.pixels[i].r);
    add(a.pixels[i].g, b.pixels[i].g);
    add(a.pixels[i].b, b.pixels[i].b);
  }
  return 10 * std::log10(255.0 * 255.0 * 3 * double(a.pixels.size()) / std::max(sum, 1e-9));
}

class FilmReading : public testing_support::FolderTest {
 protected:
  static bool hasFfmpeg() { return std::system("ffmpeg -version >/dev/null 2>&1") == 0; }

  fs::path write(const std::string& name, std::size_t count, double fps = 25,
                 const char* program = "ffmpeg") {
    FilmDesc desc;
    desc.width = kWidth;
    desc.height = kHeight;
    desc.fps = fps;
    desc.program = program;
    const auto film = writeFilm(
        folder_ / name, desc, count,
        [](std::size_t i) -> Result<Rgba8Image> { return testFrame(i); }, {}, notes_);
    EXPECT_TRUE(film.ok()) << (film.ok() ? "" : film.error().text());
    return film.ok() ? film->path : fs::path();
  }
  void run(const std::string& arguments) {
    ASSERT_EQ(std::system(("ffmpeg -y -loglevel error " + arguments).c_str()), 0) << arguments;
  }

  Diagnostics notes_;
};

/// All frames up to the end or the error.
struct Reading {
  std::vector<FilmFrame> frames;
  std::string error;
};
Reading readAll(const fs::path& file, const FilmReadDesc& desc = {}) {
  Reading out;
  Result<FilmReader> reader = FilmReader::open(file, desc);
  if (!reader) {
    out.error = reader.error().text();
    return out;
  }
  FilmFrame frame;
  for (;;) {
    const Result<bool> more = reader->next(frame);
    if (!more) out.error = more.error().text();
    if (!more || !*more) break;
    out.frames.push_back(frame);
  }
  const Result<bool> after = reader->next(frame);
  EXPECT_TRUE(after.ok() && !*after) << "an end stays the end";
  return out;
}

TEST_F(FilmReading, WhatTheWriterWritesIsReadBack) {
  if (!hasFfmpeg()) GTEST_SKIP() << "ffmpeg is not here";
  for (const char* name : {"a.mp4", "a.mov", "a.webm"}) {
    SCOPED_TRACE(name);
    const Reading film = readAll(write(name, 12));
    EXPECT_EQ(film.error, "");
    ASSERT_EQ(film.frames.size(), 12u);
    for (std::size_t i = 0; i < 12; ++i) {
      EXPECT_EQ(film.frames[i].index, i);
      EXPECT_NEAR(film.frames[i].time_s, double(i) / 25, 1e-3);
      ASSERT_EQ(film.frames[i].picture.width, kWidth);
      ASSERT_EQ(film.frames[i].picture.height, kHeight);
      EXPECT_GT(psnr(film.frames[i].picture, testFrame(i)), 32) << i;
    }
  }
}

TEST_F(FilmReading, LargeFramesDoNotGetStuck) {
  if (!hasFfmpeg()) GTEST_SKIP() << "ffmpeg is not here";
  const fs::path file = folder_ / "big.mp4";
  run("-f lavfi -i testsrc=d=2:s=1280x720:r=30 -preset ultrafast '" + file.string() + "'");
  const Reading film = readAll(file);
  EXPECT_EQ(film.error, "");
  ASSERT_EQ(film.frames.size(), 60u);
  EXPECT_NEAR(film.frames.back().time_s, 59.0 / 30, 1e-6);
}

TEST_F(FilmReading, UnevenFramesKeepTheirOwnTimes) {
  if (!hasFfmpeg()) GTEST_SKIP() << "ffmpeg is not here";
  const fs::path even = write("even.mp4", 6, 10), uneven = folder_ / "uneven.mkv";
  // Frame n at n² hundredths of a second.
  run("-i '" + even.string() +
      "' -vf 'settb=1/1000,setpts=N*N*10' -fps_mode passthrough -enc_time_base 1:1000 '" +
      uneven.string() + "'");
  const Reading film = readAll(uneven);
  EXPECT_EQ(film.error, "");
  ASSERT_EQ(film.frames.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(film.frames[i].time_s, 0.01 * double(i * i), 1e-3) << i;
}

TEST_F(FilmReading, AFilmIsTurnedAsItSays) {
  if (!hasFfmpeg()) GTEST_SKIP() << "ffmpeg is not here";
  std::vector<std::uint8_t> bytes = *readFile(write("upright.mp4", 3));
  const std::string text(bytes.begin(), bytes.end());
  const std::size_t matrix = text.find("tkhd") + 4 + 40;
  // A quarter turn clockwise: (a b; c d) = (0 1; -1 0), as phones note it.
  const std::uint32_t turned[4] = {0, 0x10000, 0xFFFF0000, 0};
  const std::size_t at[4] = {0, 4, 12, 16};
  for (int i = 0; i < 4; ++i)
    for (int b = 0; b < 4; ++b)
      bytes[matrix + at[i] + std::size_t(b)] = std::uint8_t(turned[i] >> (24 - 8 * b));
  ASSERT_TRUE(writeFileWhole(folder_ / "turned.mp4", bytes).ok());
  const Reading film = readAll(folder_ / "turned.mp4");
  EXPECT_EQ(film.error, "");
  ASSERT_EQ(film.frames.size(), 3u);
  const Rgba8Image& shown = film.frames[0].picture;
  ASSERT_EQ(shown.width, kHeight);
  ASSERT_EQ(shown.height, kWidth);
  Rgba8Image expected(kHeight, kWidth);
  const Rgba8Image stored = testFrame(0);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) expected.at(kHeight - 1 - y, x) = stored.at(x, y);
  EXPECT_GT(psnr(shown, expected), 30);
}

TEST_F(FilmReading, ATruncatedFilmGivesItsFramesThenTheError) {
  if (!hasFfmpeg()) GTEST_SKIP() << "ffmpeg is not here";
  for (const char* name : {"whole.mp4", "whole.webm"}) {
    SCOPED_TRACE(name);
    const std::vector<std::uint8_t> bytes = *readFile(write(name, 25));
    const fs::path cut = folder_ / (std::string("cut_") + name);
    ASSERT_TRUE(writeFileWhole(cut, std::span(bytes).first(bytes.size() * 3 / 4)).ok());
    const Reading film = readAll(cut);
    EXPECT_LT(film.frames.size(), 25u);
    EXPECT_GT(film.frames.size(), 0u);
    EXPECT_NE(film.error.find("cut_"), std::string::npos) << film.error;
    EXPECT_NE(film.error.find("damaged or cut short"), std::string::npos) << film.error;
    // Without its index nothing can be read.
    ASSERT_TRUE(writeFileWhole(cut, std::span(bytes).first(100)).ok());
    const Reading head = readAll(cut);
    EXPECT_TRUE(head.frames.empty());
    EXPECT_NE(head.error.find("not a film"), std::string::npos) << head.error;
  }
}

TEST_F(FilmReading, WhatIsNoFilmIsAnErrorThatNamesTheFile) {
  if (!hasFfmpeg()) GTEST_SKIP() << "ffmpeg is not here";
  // ffmpeg alone would make a picture of the first, and follow the second to another file.
  const fs::path other = write("other.mp4", 2);
  const std::pair<const char*, std::string> files[] = {
      {"text.txt", "once upon a time\n"},
      {"list.ffconcat", "ffconcat version 1.0\nfile other.mp4\n"},
      {"list.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nother.mp4\n#EXT-X-ENDLIST\n"},
      {"empty.mp4", ""},
      {"-dash: colon.mp4", "nothing"}};
  for (const auto& [name, text] : files) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(writeFileWhole(folder_ / name, std::string_view(text)).ok());
    const Result<FilmReader> reader = FilmReader::open(folder_ / name);
    ASSERT_FALSE(reader.ok());
    EXPECT_EQ(reader.error().code, ErrorCode::BadData);
    EXPECT_EQ(reader.error().where.file, (folder_ / name).string());
    EXPECT_NE(reader.error().message.find("not a film"), std::string::npos)
        << reader.error().text();
  }
  EXPECT_EQ(FilmReader::open(folder_ / "nowhere.mp4").error().code, ErrorCode::CannotRead);
  EXPECT_EQ(FilmReader::open(other, {.fps = 0}).error().code, ErrorCode::BadArgument);
}

TEST_F(FilmReading, WithoutFfmpegTheErrorSaysWhatWouldDo) {
  ASSERT_TRUE(writeFileWhole(folder_ / "a.mp4", std::string_view("whatever")).ok());
  const Result<FilmReader> reader =
      FilmReader::open(folder_ / "a.mp4", {.program = "derm-no-such-program"});
  ASSERT_FALSE(reader.ok());
  EXPECT_EQ(reader.error().code, ErrorCode::Unsupported);
  EXPECT_NE(reader.error().text().find("derm-no-such-program"), std::string::npos);
  EXPECT_NE(reader.error().text().find("{frame}"), std::string::npos) << reader.error().text();
}

TEST_F(FilmReading, NumberedPicturesNeedNoProgram) {
  const fs::path pictures = write("a.mp4", 5, 25, "derm-no-such-program");
  FilmReadDesc desc{.fps = 50, .program = "derm-no-such-program"};
  for (const fs::path& name : {pictures, pictures / "{frame}.png", pictures / "000{frame}.png"}) {
    const Reading film = readAll(name, desc);
    EXPECT_EQ(film.error, "");
    ASSERT_EQ(film.frames.size(), 5u);
    EXPECT_EQ(film.frames[3].picture, testFrame(3));
    EXPECT_NEAR(film.frames[3].time_s, 0.06, 1e-9);
  }
  fs::remove(pictures / "000003.png");
  const Reading gap = readAll(pictures, desc);
  ASSERT_EQ(gap.frames.size(), 4u);
  EXPECT_NEAR(gap.frames[2].time_s, 0.06, 1e-9) << "a number left out is a gap in time";
  ASSERT_TRUE(writeFileWhole(pictures / "000004.png", std::string_view("broken")).ok());
  const Reading broken = readAll(pictures, desc);
  EXPECT_EQ(broken.frames.size(), 2u);
  EXPECT_NE(broken.error.find("000004.png"), std::string::npos) << broken.error;
  EXPECT_EQ(FilmReader::open(folder_ / "no_{frame}.png").error().code, ErrorCode::CannotRead);
}

TEST_F(FilmReading, FramesLargerThanAllowedAreRefused) {
  if (!hasFfmpeg()) GTEST_SKIP() << "ffmpeg is not here";
  const Reading film = readAll(write("a.mp4", 3), {.max_pixels = kWidth * kHeight - 1});
  EXPECT_TRUE(film.frames.empty());
  EXPECT_NE(film.error.find("64x48 pixels"), std::string::npos) << film.error;
  EXPECT_EQ(readAll(folder_ / "a.mp4", {.max_pixels = kWidth * kHeight}).frames.size(), 3u);
}

TEST_F(FilmReading, AKilledProgramIsAnErrorAndAReaderThrownAwayEndsIt) {
  if (!hasFfmpeg()) GTEST_SKIP() << "ffmpeg is not here";
  const fs::path file = write("a.mp4", 40);
  // Stands for an ffmpeg that dies: gives on what it can, then is killed.
  const fs::path program = folder_ / "dying";
  ASSERT_TRUE(writeFileWhole(program, std::string_view("#!/bin/sh\n"
                                                       "ffmpeg \"$@\" | head -c 30000\n"
                                                       "kill -9 $$\n"))
                  .ok());
  fs::permissions(program, fs::perms::owner_all);
  const Reading film = readAll(file, {.program = program.string()});
  EXPECT_EQ(film.frames.size(), 3u);
  EXPECT_NE(film.error.find("a.mp4"), std::string::npos);
  EXPECT_NE(film.error.find("signal 9"), std::string::npos) << film.error;
  EXPECT_NE(film.error.find("frame 3"), std::string::npos) << film.error;
  Result<FilmReader> left = FilmReader::open(file);
  ASSERT_TRUE(left.ok());
  FilmFrame frame;
  EXPECT_TRUE(left->next(frame).value());
  *left = FilmReader::open(file).value();
  EXPECT_TRUE(left->next(frame).value());
  EXPECT_EQ(frame.index, 0u);
}

}  // namespace
}  // namespace derm::film_reader_test
