#include "derm/base/result.h"

#include <memory>

#include <gtest/gtest.h>

namespace derm::result_test {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{ErrorCode::BadArgument, "odd number", {.element = "n", .index = 3}};
  return n / 2;
}

Result<int> quarter(int n) {
  DERM_TRY(const int once, half(n));
  DERM_TRY(const int twice, half(once));
  return twice;
}

Result<void> mustBeEven(int n) {
  DERM_CHECK(Result<void>(n % 2 == 0 ? Result<void>() : Result<void>(half(n).error())));
  return {};
}

TEST(Result, CarriesAValueOrAnError) {
  EXPECT_EQ(*half(8), 4);
  ASSERT_FALSE(half(7).ok());
  EXPECT_EQ(half(7).error().code, ErrorCode::BadArgument);
}

TEST(Result, TryPassesTheFirstErrorOn) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).error().message, "odd number");
  EXPECT_TRUE(mustBeEven(2).ok());
  EXPECT_FALSE(mustBeEven(3).ok());
}

TEST(Result, HoldsTypesThatOnlyMove) {
  Result<std::unique_ptr<int>> r(std::make_unique<int>(5));
  const std::unique_ptr<int> owned = *std::move(r);
  EXPECT_EQ(*owned, 5);
}

TEST(ResultDeathTest, ReadingTheValueOfAnErrorIsOurBugAndAborts) {
  EXPECT_DEATH((void)half(7).value(), "requirement failed");
}

TEST(Error, TextNamesFileLineElementAndIndex) {
  const Error text{ErrorCode::BadData,
                   "61 values, but the hierarchy needs 63",
                   {.file = "walk.bvh", .element = "MOTION", .line = 412, .index = 118}};
  EXPECT_EQ(text.text(), "walk.bvh:412: MOTION[118]: 61 values, but the hierarchy needs 63");
  const Error binary{ErrorCode::BadData, "too short", {.file = "a.glb", .byte = 12}};
  EXPECT_EQ(binary.text(), "a.glb at byte 12: too short");
  EXPECT_EQ((Error{ErrorCode::BadArgument, "no", {}}).text(), "no");
}

TEST(Error, TextStaysOnOneLineWhateverTheMessageHolds) {
  EXPECT_EQ((Error{ErrorCode::BadData, "a\nb\x1b[31m\tc", {}}).text(), "a b [31m c");
}

}  // namespace
}  // namespace derm::result_test
