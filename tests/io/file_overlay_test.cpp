#include "derm/io/file_overlay.h"

#include <gtest/gtest.h>

#include "derm/io/file_bytes.h"

namespace derm {
namespace {

TEST(FileOverlay, LiesOverTheDiskWhileItLives) {
  MemoryFiles files;
  files.put("folder/a.txt", {1, 2, 3});
  EXPECT_FALSE(readFile("folder/a.txt").ok());
  {
    const FileOverlay overlay(files);
    const auto read = readFile("folder/./a.txt");
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, (MemoryFiles::Bytes{1, 2, 3}));
    EXPECT_EQ(firstBytes("folder/a.txt", 2), (MemoryFiles::Bytes{1, 2}));
    EXPECT_EQ(firstBytes("folder/a.txt", 9).size(), 3u);
    EXPECT_FALSE(readFile("folder/a.txt", 2).ok());  // too large
    EXPECT_FALSE(readFile("folder/b.txt").ok());
    MemoryFiles others;
    const FileOverlay above(others);
    EXPECT_FALSE(readFile("folder/a.txt").ok());  // the last one counts
  }
  EXPECT_FALSE(readFile("folder/a.txt").ok());
  EXPECT_TRUE(firstBytes("folder/a.txt", 2).empty());
}

}  // namespace
}  // namespace derm
