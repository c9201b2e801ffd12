#include "derm/base/number_text.h"

#include <limits>

#include <gtest/gtest.h>

namespace derm {
namespace {

TEST(NumberText, ShortNumbersHaveTheDigitsThatCount) {
  EXPECT_EQ(shortNumber(1.23456), "1.235");
  EXPECT_EQ(shortNumber(0.5), "0.5");
  EXPECT_EQ(shortNumber(1234567, 3), "1.23e+06");
  EXPECT_EQ(shortNumber(std::numeric_limits<double>::quiet_NaN()), "-");
}

TEST(NumberText, FixedNumbersHaveAsManyDecimalsAsAsked) {
  EXPECT_EQ(fixedNumber(2, 2), "2.00");
  EXPECT_EQ(fixedNumber(-0.001, 2), "0.00") << "no minus before nothing";
  EXPECT_EQ(fixedNumber(1e300, 1).size(), 303u);
}

TEST(NumberText, MillimetresAreOfMetres) {
  EXPECT_EQ(millimetres(0.000454), "0.454 mm");
  EXPECT_EQ(millimetres(1e-10), "1e-07 mm");
}

}  // namespace
}  // namespace derm
