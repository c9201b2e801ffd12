#include "derm/io/point_cache.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "derm/io/file_bytes.h"
#include "derm/io/whole_file.h"

#include "support/test_folder.h"

namespace derm::point_cache_test {
namespace {

namespace fs = std::filesystem;

class PointCacheTest : public testing_support::FolderTest {};

std::vector<Vec3f> someFrame(int seed, std::size_t points) {
  std::vector<Vec3f> out;
  for (std::size_t v = 0; v < points; ++v)
    out.emplace_back(0.1f * float(seed), float(v), -1e-7f * float(v * v));
  return out;
}

Result<void> writeCache(const fs::path& file, const PointCacheDesc& desc) {
  DERM_TRY(PointCacheWriter writer, PointCacheWriter::create(file, desc));
  for (std::size_t f = 0; f < desc.times_s.size(); ++f)
    DERM_CHECK(writer.append(someFrame(int(f), desc.points)));
  return writer.commit();
}

TEST_F(PointCacheTest, BothFormatsComeBackBitForBit) {
  for (const PointCacheFormat format : {PointCacheFormat::Pc2, PointCacheFormat::Mdd}) {
    const fs::path file = folder_ / (format == PointCacheFormat::Pc2 ? "a.pc2" : "a.MDD");
    const PointCacheDesc desc{.format = format, .points = 7, .times_s = {0.5, 0.75, 1}, .fps = 4};
    ASSERT_TRUE(writeCache(file, desc).ok());
    const Result<PointCache> cache = loadPointCache(file);
    ASSERT_TRUE(cache.ok()) << cache.error().text();
    ASSERT_EQ(cache->frameCount(), 3u);
    ASSERT_EQ(cache->points, 7u);
    for (std::size_t f = 0; f < 3; ++f)
      EXPECT_TRUE(std::ranges::equal(cache->frame(f), someFrame(int(f), 7)));
    const std::vector<float> times = format == PointCacheFormat::Pc2
                                         ? std::vector<float>{2, 3, 4}
                                         : std::vector<float>{0.5f, 0.75f, 1};
    EXPECT_EQ(cache->times, times);
  }
}

TEST_F(PointCacheTest, Pc2HasTheBytesOthersExpect) {
  const fs::path file = folder_ / "a.pc2";
  ASSERT_TRUE(writeCache(file, {.points = 1, .times_s = {0}, .fps = 24}).ok());
  const std::vector<std::uint8_t> want = {
      'P', 'O', 'I', 'N', 'T', 'C', 'A',  'C',  'H', 'E', '2', 0,      // name
      1,   0,   0,   0,   1,   0,   0,    0,                           // version, points
      0,   0,   0,   0,   0,   0,   0x80, 0x3F,                        // start 0, rate 1.0
      1,   0,   0,   0,                                                // samples
      0,   0,   0,   0,   0,   0,   0,    0,    0,   0,   0,   0x80};  // 0 0 -0
  EXPECT_EQ(readFile(file).value(), want);
}

TEST_F(PointCacheTest, MddHasTheBytesOthersExpect) {
  const fs::path file = folder_ / "a.mdd";
  ASSERT_TRUE(
      writeCache(file, {.format = PointCacheFormat::Mdd, .points = 1, .times_s = {1}}).ok());
  const std::vector<std::uint8_t> want = {0,    0,    0, 1, 0, 0, 0, 1,  // frames, points
                                          0x3F, 0x80, 0, 0,              // 1.0 s
                                          0,    0,    0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0};
  EXPECT_EQ(readFile(file).value(), want);
}

TEST_F(PointCacheTest, EveryTruncationIsAnError) {
  for (const char* name : {"a.pc2", "a.mdd"}) {
    const fs::path file = folder_ / name;
    const auto format = name[2] == 'p' ? PointCacheFormat::Pc2 : PointCacheFormat::Mdd;
    ASSERT_TRUE(writeCache(file, {.format = format, .points = 3, .times_s = {0, 1}}).ok());
    std::vector<std::uint8_t> bytes = readFile(file).value();
    for (std::size_t length = 0; length < bytes.size(); ++length)
      EXPECT_FALSE(parsePointCache(format, std::span(bytes).first(length), name).ok()) << length;
    bytes.push_back(0);
    EXPECT_FALSE(parsePointCache(format, bytes, name).ok());
  }
}

TEST_F(PointCacheTest, HostileHeadersAreErrorsBeforeAnythingIsAllocated) {
  std::vector<std::uint8_t> pc2(32 + 12, 0xFF);
  const std::string magic("POINTCACHE2\0\1\0\0\0", 16);
  std::copy(magic.begin(), magic.end(), pc2.begin());
  Result<PointCache> cache = parsePointCache(PointCacheFormat::Pc2, pc2, "x.pc2");
  ASSERT_FALSE(cache.ok());
  EXPECT_EQ(cache.error().text(), "x.pc2: points: expected 1 to 2147483647");
  for (const std::size_t at : {16u, 28u}) {  // 2^31 - 1 of each
    pc2[at] = pc2[at + 1] = pc2[at + 2] = 0xFF;
    pc2[at + 3] = 0x7F;
  }
  cache = parsePointCache(PointCacheFormat::Pc2, pc2, "x.pc2");
  ASSERT_FALSE(cache.ok());
  EXPECT_EQ(cache.error().text(),
            "x.pc2: header: 2147483647 frames of 2147483647 points do not fit 44 bytes");
  const std::vector<std::uint8_t> zeros(8, 0);
  EXPECT_FALSE(parsePointCache(PointCacheFormat::Mdd, zeros, "x.mdd").ok());
}

TEST_F(PointCacheTest, NumbersThatAreNotFiniteAreNamed) {
  const fs::path file = folder_ / "a.pc2";
  ASSERT_TRUE(writeCache(file, {.points = 2, .times_s = {0}}).ok());
  std::vector<std::uint8_t> bytes = readFile(file).value();
  bytes[32 + 12 + 3] = 0x7F;
  bytes[32 + 12 + 2] = 0xC0;
  const Result<PointCache> cache = parsePointCache(PointCacheFormat::Pc2, bytes, "x.pc2");
  ASSERT_FALSE(cache.ok());
  EXPECT_EQ(cache.error().text(), "x.pc2: positions[1]: not a finite number");
}

TEST_F(PointCacheTest, AnUnfinishedCacheLeavesTheOldFile) {
  const fs::path file = folder_ / "a.pc2";
  ASSERT_TRUE(writeFileWhole(file, "old").ok());
  {
    PointCacheWriter writer =
        PointCacheWriter::create(file, {.points = 2, .times_s = {0, 1}}).value();
    ASSERT_TRUE(writer.append(someFrame(0, 2)).ok());
    EXPECT_EQ(fileCount(), 2u) << "the temporary is beside it";
  }
  EXPECT_EQ(fileCount(), 1u);
  EXPECT_EQ(readFile(file).value(), (std::vector<std::uint8_t>{'o', 'l', 'd'}));
}

TEST_F(PointCacheTest, LargeCachesComeBackWhole) {
  const fs::path file = folder_ / "a.mdd";
  PointCacheDesc desc{.format = PointCacheFormat::Mdd, .points = 6000};
  for (int f = 0; f < 60; ++f) desc.times_s.push_back(f);  // several blocks of the writing thread
  ASSERT_TRUE(writeCache(file, desc).ok());
  const PointCache cache = loadPointCache(file).value();
  for (std::size_t f = 0; f < 60; ++f)
    ASSERT_TRUE(std::ranges::equal(cache.frame(f), someFrame(int(f), 6000))) << f;
}

TEST_F(PointCacheTest, AFailedWriteIsReportedAndLeavesTheOldFile) {
  const fs::path file = folder_ / "a.pc2";
  ASSERT_TRUE(writeFileWhole(file, "old").ok());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 2 << 20, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  PointCacheDesc desc{.points = 6000};
  for (int f = 0; f < 60; ++f) desc.times_s.push_back(f);  // 4.3 MB
  const Result<void> written = writeCache(file, desc);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::CannotWrite);
  EXPECT_EQ(written.error().where.file, file.string());
  EXPECT_EQ(fileCount(), 1u);
  EXPECT_EQ(readFile(file).value(), (std::vector<std::uint8_t>{'o', 'l', 'd'}));
}

TEST_F(PointCacheTest, BadArgumentsAndPathsAreErrors) {
  EXPECT_EQ(writeCache(folder_ / "a.pc2", {.points = 1}).error().code, ErrorCode::BadArgument);
  EXPECT_EQ(writeCache(folder_ / "a.pc2", {.points = 0, .times_s = {0}}).error().code,
            ErrorCode::BadArgument);
  EXPECT_EQ(writeCache(folder_ / "no" / "a.pc2", {.points = 1, .times_s = {0}}).error().code,
            ErrorCode::CannotWrite);
  EXPECT_EQ(writeCache(folder_, {.points = 1, .times_s = {0}}).error().code,
            ErrorCode::CannotWrite);
  EXPECT_EQ(loadPointCache(folder_ / "a.abc").error().code, ErrorCode::BadArgument);
  EXPECT_EQ(loadPointCache(folder_ / "b.pc2").error().code, ErrorCode::CannotRead);
}

TEST_F(PointCacheTest, WholeFilesCanBeFinishedTogetherAndMoved) {
  std::vector<WholeFile> files;
  for (const char* name : {"a", "b", "c"}) {
    WholeFile file = WholeFile::create(folder_ / name).value();
    ASSERT_TRUE(file.append(name).ok());
    ASSERT_TRUE(file.finish().ok());
    files.push_back(std::move(file));
  }
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  ASSERT_TRUE(files[0].commit().ok());
  EXPECT_TRUE(fs::exists(folder_ / "a"));
  files.clear();
  EXPECT_EQ(fileCount(), 1u) << "what was not committed is gone";
}

}  // namespace
}  // namespace derm::point_cache_test
