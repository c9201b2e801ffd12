#include "derm/io/file_bytes.h"

#include <csignal>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test_folder.h"

namespace derm::file_bytes_test {
namespace {

namespace fs = std::filesystem;

class FileBytes : public testing_support::FolderTest {
 protected:
  std::string content(const fs::path& file) {
    const Result<std::vector<std::uint8_t>> bytes = readFile(file);
    return bytes.ok() ? std::string(bytes->begin(), bytes->end()) : bytes.error().text();
  }
};

TEST_F(FileBytes, WritesAndReadsBack) {
  const std::string text("a\0b\nc", 5);
  ASSERT_TRUE(writeFileWhole(folder_ / "x", std::string_view(text)).ok());
  EXPECT_EQ(content(folder_ / "x"), text);
  ASSERT_TRUE(writeFileWhole(folder_ / "x", std::string_view()).ok());
  EXPECT_EQ(content(folder_ / "x"), "");
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(FileBytes, ReadErrorsNameTheFile) {
  const fs::path missing = folder_ / "missing";
  EXPECT_EQ(content(missing), missing.string() + ": cannot open: No such file or directory");
  EXPECT_EQ(content(folder_), folder_.string() + ": not a file");
  ASSERT_TRUE(writeFileWhole(folder_ / "x", std::string_view("12345")).ok());
  const Result<std::vector<std::uint8_t>> large = readFile(folder_ / "x", 4);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, ErrorCode::CannotRead);
  EXPECT_EQ(large.error().message, "5 bytes; at most 4 are read");
}

TEST_F(FileBytes, ANamedPipeDoesNotHangUs) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(content(pipe), pipe.string() + ": not a file");
}

TEST_F(FileBytes, AMissingFolderIsAnError) {
  const Result<void> written = writeFileWhole(folder_ / "none" / "x", std::string_view("a"));
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::CannotWrite);
  EXPECT_EQ(written.error().where.file, (folder_ / "none" / "x").string());
}

TEST_F(FileBytes, ADirectoryIsNotReplaced) {
  fs::create_directory(folder_ / "d");
  const Result<void> written = writeFileWhole(folder_ / "d", std::string_view("a"));
  ASSERT_FALSE(written.ok());
  EXPECT_TRUE(fs::is_directory(folder_ / "d"));
}

TEST_F(FileBytes, ADeviceOrPipeIsNotReplaced) {
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Result<void> written = writeFileWhole(pipe, std::string_view("x"));
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::CannotWrite);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(FileBytes, ALinkStaysALinkAndItsFileIsWritten) {
  std::filesystem::create_directory(folder_ / "real");
  std::filesystem::create_symlink("real/file", folder_ / "link");
  std::filesystem::create_symlink("link", folder_ / "again");
  for (const char* text : {"new", "old"}) {  // while the file is not there, and then
    ASSERT_TRUE(writeFileWhole(folder_ / "again", std::string_view(text)).ok());
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "again"));
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
    const auto read = readFile(folder_ / "real/file");
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(std::string(read->begin(), read->end()), text);
  }
}

TEST_F(FileBytes, AReplacedFileKeepsItsRights) {
  using std::filesystem::perms;
  const std::filesystem::path file = folder_ / "mine";
  ASSERT_TRUE(writeFileWhole(file, std::string_view("a")).ok());
  std::filesystem::permissions(file, perms::owner_read | perms::owner_write);
  ASSERT_TRUE(writeFileWhole(file, std::string_view("b")).ok());
  EXPECT_EQ(std::filesystem::status(file).permissions(), perms::owner_read | perms::owner_write);
}

TEST_F(FileBytes, AFolderWeMayNotWriteToKeepsTheOldFile) {
  ASSERT_TRUE(writeFileWhole(folder_ / "x", std::string_view("old")).ok());
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_exec |
                               fs::perms::others_read);
  // Root may write anywhere, so it steps down for a moment.
  constexpr uid_t kNobody = 65534;
  const bool root = ::geteuid() == 0;
  if (root && ::seteuid(kNobody) != 0) GTEST_SKIP() << "cannot give up root's rights";
  const Result<void> written = writeFileWhole(folder_ / "x", std::string_view("new"));
  const bool restored = !root || ::seteuid(0) == 0;
  ASSERT_TRUE(restored);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::CannotWrite);
  EXPECT_EQ(content(folder_ / "x"), "old");
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(FileBytes, AWriteThatFailsHalfWayKeepsTheOldFileAndLeavesNoOther) {
  ASSERT_TRUE(writeFileWhole(folder_ / "x", std::string_view("old")).ok());
  // A limit on file sizes fails like a full disk does, and needs no disk to fill.
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Result<void> written = writeFileWhole(folder_ / "x", std::string(100000, 'n'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::CannotWrite);
  EXPECT_EQ(content(folder_ / "x"), "old");
  EXPECT_EQ(fileCount(), 1u);
}

}  // namespace
}  // namespace derm::file_bytes_test
