#include "derm/base/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace derm::utf8_test {
namespace {

TEST(Utf8, TextOfEveryLengthIsUtf8) {
  for (const char* text : {"", "plain", "\xC3\xA9", "\xE8\x85\x95", "\xEF\xBF\xBF", "\xED\x9F\xBF",
                           "\xF0\x90\x80\x80", "a\xF4\x8F\xBF\xBFz"})
    EXPECT_TRUE(isUtf8(text)) << text;
  EXPECT_TRUE(isUtf8(std::string_view("\0", 1)));
}

TEST(Utf8, OtherBytesAreNot) {
  for (const char* text : {"\xFF", "caf\xE9", "caf\xE9s", "\x80", "\xC3", "\xC0\x80", "\xC1\xBF",
                           "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE8\x85", "\xF0\x8F\xBF\xBF",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF0\x90\x80"})
    EXPECT_FALSE(isUtf8(text));
}

}  // namespace
}  // namespace derm::utf8_test
