#include "derm/io/film.h"

#include <cmath>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "derm/io/file_bytes.h"
#include "derm/io/image_file.h"

#include "support/test_folder.h"

namespace derm::film_test {
namespace {

namespace fs = std::filesystem;

class Film : public testing_support::FolderTest {
 protected:
  static bool hasFfmpeg() { return std::system("ffmpeg -version >/dev/null 2>&1") == 0; }
  static Rgba8Image frame(int width, int height, std::size_t i) {
    return Rgba8Image(width, height, {std::uint8_t(20 * i), 100, 200, 255});
  }
  static auto frames(int width, int height) {
    return [width, height](std::size_t i) -> Result<Rgba8Image> { return frame(width, height, i); };
  }

  Diagnostics notes_;
};

FilmDesc small() {
  FilmDesc desc;
  desc.width = 33;  // odd on purpose
  desc.height = 17;
  desc.fps = 25;
  return desc;
}

std::string asText(const std::vector<std::uint8_t>& bytes) {
  return std::string(bytes.begin(), bytes.end());
}

TEST_F(Film, AnMp4HasItsIndexInFrontAndLeavesNothingElse) {
  if (!hasFfmpeg()) GTEST_SKIP() << "ffmpeg is not here";
  const fs::path file = folder_ / "out.mp4";
  const auto film = writeFilm(file, small(), 5, frames(33, 17), {}, notes_);
  ASSERT_TRUE(film.ok()) << film.error().text();
  EXPECT_EQ(film->path, file);
  EXPECT_EQ(film->frames, 5u);
  EXPECT_FALSE(film->is_sequence);
  const std::string bytes = asText(*readFile(file));
  EXPECT_EQ(bytes.find("ftyp"), 4u);
  EXPECT_LT(bytes.find("moov"), bytes.find("mdat"));
  EXPECT_NE(bytes.find("avc1"), std::string::npos);
  EXPECT_EQ(fileCount(), 1u);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(Film, GifAndWebpFollowTheEnding) {
  if (!hasFfmpeg()) GTEST_SKIP() << "ffmpeg is not here";
  const auto gif = writeFilm(folder_ / "a.GIF", small(), 3, frames(33, 17), {}, notes_);
  ASSERT_TRUE(gif.ok()) << gif.error().text();
  EXPECT_EQ(asText(*readFile(gif->path)).substr(0, 4), "GIF8");
  const auto webp = writeFilm(folder_ / "a.webp", small(), 3, frames(33, 17), {}, notes_);
  ASSERT_TRUE(webp.ok()) << webp.error().text();
  EXPECT_EQ(asText(*readFile(webp->path)).substr(8, 4), "WEBP");
}

TEST_F(Film, WithoutFfmpegThereIsASequenceAndANote) {
  FilmDesc desc = small();
  desc.program = "derm-no-such-program";
  const auto film = writeFilm(folder_ / "out.mp4", desc, 3, frames(33, 17), {}, notes_);
  ASSERT_TRUE(film.ok()) << film.error().text();
  EXPECT_TRUE(film->is_sequence);
  EXPECT_EQ(film->path, folder_ / "out_frames");
  EXPECT_EQ(notes_.count("no-ffmpeg"), 1u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto image = loadImage(film->path / ("00000" + std::to_string(i + 1) + ".png"));
    ASSERT_TRUE(image.ok());
    EXPECT_EQ(*image, frame(33, 17, i));
  }
  EXPECT_EQ(fileCount(), 1u);
  // A shorter one later leaves no frames of the longer one, and what is not ours stays.
  ASSERT_TRUE(writeFileWhole(film->path / "notes.txt", std::string_view("mine")).ok());
  ASSERT_TRUE(writeFilm(folder_ / "out.mp4", desc, 1, frames(33, 17), {}, notes_).ok());
  EXPECT_TRUE(fs::exists(film->path / "000001.png"));
  EXPECT_FALSE(fs::exists(film->path / "000002.png"));
  EXPECT_TRUE(fs::exists(film->path / "notes.txt"));
}

TEST_F(Film, AProgramThatFailsIsAnErrorAndTheOldFileStays) {
  const fs::path file = folder_ / "out.mp4";
  ASSERT_TRUE(writeFileWhole(file, std::string_view("old")).ok());
  FilmDesc desc = small();
  desc.width = desc.height = 600;  // more than a socket holds, so that the failure shows in add()
  desc.program = "false";
  const auto film = writeFilm(file, desc, 20, frames(600, 600), {}, notes_);
  ASSERT_FALSE(film.ok());
  EXPECT_EQ(film.error().code, ErrorCode::CannotWrite);
  EXPECT_NE(film.error().message.find("false failed"), std::string::npos);
  EXPECT_EQ(asText(*readFile(file)), "old");
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(Film, FfmpegsLastWordsAreInTheError) {
  if (!hasFfmpeg()) GTEST_SKIP() << "ffmpeg is not here";
  const auto film =
      writeFilm(folder_ / "no-such-folder" / "out.mp4", small(), 3, frames(33, 17), {}, notes_);
  ASSERT_FALSE(film.ok());
  EXPECT_NE(film.error().message.find("No such file"), std::string::npos) << film.error().text();
}

TEST_F(Film, CancellingLeavesTheOldFileAndNothingElse) {
  const fs::path file = folder_ / "out.mp4";
  ASSERT_TRUE(writeFileWhole(file, std::string_view("old")).ok());
  for (const char* program : {"ffmpeg", "derm-no-such-program"}) {
    FilmDesc desc = small();
    desc.program = program;
    int calls = 0;
    const auto film = writeFilm(
        file, desc, 100, frames(33, 17), [&](double, std::string_view) { return ++calls < 4; },
        notes_);
    ASSERT_FALSE(film.ok());
    EXPECT_EQ(film.error().code, ErrorCode::Cancelled);
    EXPECT_EQ(asText(*readFile(file)), "old");
    EXPECT_EQ(fileCount(), 1u) << program;
  }
}

TEST_F(Film, BadDescriptionsAreRefusedBeforeAnythingStarts) {
  const auto code = [&](const char* name, FilmDesc desc) {
    return FilmWriter::open(folder_ / name, desc, notes_).error().code;
  };
  EXPECT_EQ(code("out.avi", small()), ErrorCode::BadArgument);
  FilmDesc desc = small();
  desc.fps = std::nan("");
  EXPECT_EQ(code("out.mp4", desc), ErrorCode::BadArgument);
  desc = small();
  desc.width = 0;
  EXPECT_EQ(code("out.mp4", desc), ErrorCode::BadArgument);
  fs::create_directory(folder_ / "dir.mp4");
  EXPECT_EQ(code("dir.mp4", small()), ErrorCode::CannotWrite);
}

TEST_F(Film, ALinkStaysAndItsFileIsReplaced) {
  if (!hasFfmpeg()) GTEST_SKIP() << "ffmpeg is not here";
  fs::create_directory(folder_ / "real");
  ASSERT_TRUE(writeFileWhole(folder_ / "real" / "film.gif", std::string_view("old")).ok());
  fs::create_symlink("real/film.gif", folder_ / "link.gif");
  const auto film = writeFilm(folder_ / "link.gif", small(), 3, frames(33, 17), {}, notes_);
  ASSERT_TRUE(film.ok()) << film.error().text();
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.gif"));
  EXPECT_EQ(asText(*readFile(folder_ / "real" / "film.gif")).substr(0, 4), "GIF8");
}

TEST_F(Film, AFrameOfAnotherSizeIsNamed) {
  FilmDesc desc = small();
  desc.program = "derm-no-such-program";
  auto writer = FilmWriter::open(folder_ / "out.mp4", desc, notes_);
  ASSERT_TRUE(writer.ok());
  const auto added = writer->add(Rgba8Image(5, 5));
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().where.index, 0u);
  EXPECT_FALSE(writer->finish().ok());  // no frames
}

}  // namespace
}  // namespace derm::film_test
