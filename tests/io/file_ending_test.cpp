#include "derm/io/file_ending.h"

#include <gtest/gtest.h>

namespace derm::file_ending_test {
namespace {

TEST(FileEnding, IsLowerCaseWithItsDot) {
  EXPECT_EQ(fileEnding("Body.GLB"), ".glb");
  EXPECT_EQ(fileEnding("some.folder/walk.v2.Bvh"), ".bvh");
  EXPECT_EQ(fileEnding("some.folder/walk"), "");
  EXPECT_EQ(fileEnding(""), "");
  EXPECT_EQ(fileEnding(".toml"), "");
}

TEST(FileEnding, LeavesLettersBeyondAsciiAlone) {
  EXPECT_EQ(fileEnding("a.\xC3\x84Z"), ".\xC3\x84z");
}

}  // namespace
}  // namespace derm::file_ending_test
