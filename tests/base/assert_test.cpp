#include "derm/base/assert.h"

#include <csetjmp>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace derm::assert_test {
namespace {

std::jmp_buf way_out;
std::string failed_expression;
int failed_line = 0;

/// Puts the handler back that was there before.
class HandlerGuard {
 public:
  explicit HandlerGuard(RequirementHandler handler) : before_(setRequirementHandler(handler)) {}
  ~HandlerGuard() { setRequirementHandler(before_); }
  HandlerGuard(const HandlerGuard&) = delete;
  HandlerGuard& operator=(const HandlerGuard&) = delete;

 private:
  RequirementHandler before_;
};

TEST(RequireDeathTest, PrintsWhatFailedAndAborts) {
  EXPECT_DEATH(
      DERM_REQUIRE(1 + 1 == 3),
      "assert_test.cpp:[0-9]+: requirement failed, by derm or by its caller: 1 \\+ 1 == 3");
}

TEST(RequireDeathTest, AHandlerThatReturnsStillEndsInAbort) {
  const HandlerGuard guard([](const char*, const char*, int) {});
  EXPECT_EXIT(DERM_REQUIRE(false), testing::KilledBySignal(SIGABRT), "^$");
}

TEST(Require, AHandlerMayThrow) {
  const HandlerGuard guard(
      [](const char* expression, const char*, int) { throw std::runtime_error(expression); });
  const auto halve = [](int x) {
    DERM_REQUIRE(x % 2 == 0);
    return x / 2;
  };
  EXPECT_EQ(halve(4), 2);
  EXPECT_THROW(halve(3), std::runtime_error);
}

TEST(Require, AHandlerMayJump) {
  const HandlerGuard guard([](const char* expression, const char* file, int line) {
    failed_expression = expression;
    failed_line = line;
    EXPECT_TRUE(std::string(file).ends_with("assert_test.cpp"));
    std::longjmp(way_out, 1);
  });
  if (setjmp(way_out) == 0) {
    DERM_REQUIRE(2 > 3);
    FAIL() << "not reached";
  }
  EXPECT_EQ(failed_expression, "2 > 3");
  EXPECT_GT(failed_line, 0);
}

TEST(Require, NullIsTheDefaultHandler) {
  const RequirementHandler before = requirementHandler();
  setRequirementHandler([](const char*, const char*, int) {});
  EXPECT_NE(requirementHandler(), before);
  setRequirementHandler(nullptr);
  EXPECT_EQ(requirementHandler(), before);
}

}  // namespace
}  // namespace derm::assert_test
