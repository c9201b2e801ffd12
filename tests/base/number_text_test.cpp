#include "derm/base/number_text.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "derm/base/bit_cast.h"
#include "derm/base/rng.h"

#include "base/number_format.h"

namespace derm::number_text_test {
namespace {

/// Numbers of every size, and those that are easy to get wrong.
template <class T, class Bits>
std::vector<T> manyNumbers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> out = {T(0),
                        -T(0),
                        T(1),
                        T(0.1),
                        T(1e5),
                        T(123456),
                        T(1e-5),
                        T(0.0001),
                        T(16777216),
                        T(33554432),
                        T(1.5e10),
                        T(123456789e3),
                        Limits::max(),
                        Limits::min(),
                        -Limits::max(),
                        Limits::denorm_min(),
                        T(1e21),
                        T(1e22),
                        T(9007199254740993.0)};
  Rng rng(7);
  while (out.size() < 20000) {
    Bits bits = 0;
    for (std::size_t i = 0; i < sizeof(Bits) / 2; ++i)
      bits = static_cast<Bits>(bits << 16 | static_cast<Bits>(rng.below(65536)));
    if (const T any = bitCast<T>(bits); std::isfinite(any)) out.push_back(any);
    out.push_back(static_cast<T>(std::floor(rng.uniform(-1e6, 1e6)) / 1000));
  }
  return out;
}

template <class T>
T readBack(const std::string& text) {
  T value = 99;
  const NumberRead read = readNumber(text, value);
  EXPECT_EQ(read.length, text.size()) << text;
  EXPECT_FALSE(read.out_of_range) << text;
  return value;
}

template <class T, class Bits>
void expectBothWaysToWriteAgree() {
  for (const T x : manyNumbers<T, Bits>()) {
    const std::string text = exactNumber(x);
    EXPECT_EQ(bitCast<Bits>(readBack<T>(text)), bitCast<Bits>(x)) << text;
    const std::string portable = detail::exactByPrintf(x);
    int exponent = 0;
    const bool power_of_two = std::abs(std::frexp(x, &exponent)) == T(0.5);
    if (!power_of_two) {
      EXPECT_EQ(portable, text);
    }
    EXPECT_EQ(bitCast<Bits>(readBack<T>(portable)), bitCast<Bits>(x)) << portable;
    T read = 99;
    EXPECT_EQ(detail::readByStrtod(text, read).length, text.size()) << text;
    EXPECT_EQ(bitCast<Bits>(read), bitCast<Bits>(x)) << text;
  }
}

TEST(NumberText, ExactNumbersReadBackWithBothBodies) {
  expectBothWaysToWriteAgree<float, std::uint32_t>();
  expectBothWaysToWriteAgree<double, std::uint64_t>();
  EXPECT_EQ(exactNumber(0.1f), "0.1");
  EXPECT_EQ(exactNumber(1e-7), "1e-07");
  EXPECT_EQ(exactNumber(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(NumberText, BothBodiesReadTheSamePartOfAText) {
  for (const std::string text : {"1",
                                 "-1.5e3x",
                                 "1.",
                                 ".5",
                                 "-.5e",
                                 "1e",
                                 "1e+",
                                 "1e+2",
                                 "1e-2.5",
                                 "+1",
                                 " 1",
                                 "",
                                 "-",
                                 ".",
                                 "e5",
                                 "x",
                                 "0x10",
                                 "inf",
                                 "-INF",
                                 "Infinity!",
                                 "nan",
                                 "infi",
                                 "1e400",
                                 "-1e400",
                                 "1e-400",
                                 "0e999",
                                 "00012",
                                 "1,5",
                                 "123456789012345678901234567890e-30"}) {
    for (const bool wide : {false, true}) {
      double d = 99, portable_d = 99;
      float f = 99, portable_f = 99;
      const NumberRead want = wide ? readNumber(text, d) : readNumber(text, f);
      const NumberRead got =
          wide ? detail::readByStrtod(text, portable_d) : detail::readByStrtod(text, portable_f);
      EXPECT_EQ(got.length, want.length) << text << wide;
      EXPECT_EQ(got.out_of_range, want.out_of_range) << text << wide;
      EXPECT_TRUE(d == portable_d || std::isnan(d)) << text;
      EXPECT_TRUE(f == portable_f || std::isnan(f)) << text;
    }
  }
}

TEST(NumberText, BothBodiesWriteTheSameForPeople) {
  for (const double x : manyNumbers<double, std::uint64_t>()) {
    EXPECT_EQ(detail::shortByPrintf(x, 4), shortNumber(x));
    if (std::abs(x) >= 1) {
      EXPECT_EQ(detail::fixedByPrintf(x, 2), fixedNumber(x, 2));
    }
  }
}

TEST(BitCast, KeepsTheBytes) {
  EXPECT_EQ(bitCast<std::uint32_t>(1.0f), 0x3F800000u);
  EXPECT_EQ(bitCast<float>(0x3F800000u), 1.0f);
}

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
}  // namespace derm::number_text_test
