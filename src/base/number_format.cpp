#include "base/number_format.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace derm::detail {
namespace {

template <class... Arguments>
std::string printed(const char* format, Arguments... arguments) {
  const int size = std::snprintf(nullptr, 0, format, arguments...);
  std::string out(static_cast<std::size_t>(size), '\0');
  std::snprintf(out.data(), out.size() + 1, format, arguments...);
  return out;
}

float parsed(const char* text, char** end, float) { return std::strtof(text, end); }
double parsed(const char* text, char** end, double) { return std::strtod(text, end); }

/// The shorter of both notations of digits d.ddd x 10^exponent; without an exponent if equal.
template <class T>
std::string shorterNotation(T value, std::string_view digits, int exponent) {
  const auto count = static_cast<int>(digits.size());
  const int scientific = count + (count > 1) + (std::abs(exponent) < 100 ? 4 : 5);
  const int fixed = exponent < 0            ? count + 1 - exponent
                    : exponent >= count - 1 ? exponent + 1
                                            : count + 1;
  const std::string sign = std::signbit(value) ? "-" : "";
  if (fixed > scientific) {
    std::string out = sign + std::string(digits.substr(0, 1));
    if (count > 1) out += "." + std::string(digits.substr(1));
    return out + printed("e%+03d", exponent);
  }
  // Whole numbers are written with all their digits, not with zeros behind those that count.
  if (exponent >= count - 1) return printed("%.0f", static_cast<double>(value));
  if (exponent < 0)
    return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') +
           std::string(digits);
  const auto whole = static_cast<std::size_t>(exponent + 1);
  return sign + std::string(digits.substr(0, whole)) + "." + std::string(digits.substr(whole));
}

template <class T>
std::string exact(T value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  for (int digits = 1;; ++digits) {
    const std::string text = printed("%.*e", digits - 1, static_cast<double>(value));
    if (digits < std::numeric_limits<T>::max_digits10 &&
        parsed(text.c_str(), nullptr, T{}) != value)
      continue;
    const std::size_t e = text.find('e');
    std::string mantissa = text.substr(0, e);
    mantissa.erase(
        std::remove_if(mantissa.begin(), mantissa.end(), [](char c) { return c < '0' || c > '9'; }),
        mantissa.end());
    return shorterNotation(value, mantissa, std::atoi(text.c_str() + e + 1));
  }
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

bool startsWithWord(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(),
                    [](char w, char t) { return w == (t >= 'A' && t <= 'Z' ? t + 32 : t); });
}

/// How long the number is that the text starts with; `zero`: all its digits are 0.
std::size_t numberLength(std::string_view text, bool& zero) {
  const std::size_t start = text.starts_with('-') ? 1 : 0;
  zero = false;
  const std::string_view bare = text.substr(start);
  for (const std::string_view word : {"infinity", "inf", "nan"})
    if (startsWithWord(bare, word)) return start + word.size();
  zero = true;
  std::size_t at = start, digits = 0;
  const auto skipDigits = [&] {
    for (; at < text.size() && isDigit(text[at]); ++at, ++digits) zero = zero && text[at] == '0';
  };
  skipDigits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    skipDigits();
  }
  if (digits == 0) return 0;
  std::size_t exponent = at;
  if (exponent < text.size() && (text[exponent] == 'e' || text[exponent] == 'E')) {
    ++exponent;
    if (exponent < text.size() && (text[exponent] == '-' || text[exponent] == '+')) ++exponent;
    const std::size_t first = exponent;
    while (exponent < text.size() && isDigit(text[exponent])) ++exponent;
    if (exponent > first) at = exponent;
  }
  return at;
}

template <class T>
NumberRead read(std::string_view text, T& value) {
  bool zero = false;
  const std::size_t length = numberLength(text, zero);
  if (length == 0) return {};
  const std::string number(text.substr(0, length));
  const T got = parsed(number.c_str(), nullptr, T{});
  const bool word = !isDigit(number.back()) && number.back() != '.';
  if (!word && (std::isinf(got) || (got == 0 && !zero))) return {length, true};
  value = got;
  return {length, false};
}

}  // namespace

std::string shortByPrintf(double value, int digits) { return printed("%.*g", digits, value); }
std::string fixedByPrintf(double value, int decimals) { return printed("%.*f", decimals, value); }
std::string exactByPrintf(float value) { return exact(value); }
std::string exactByPrintf(double value) { return exact(value); }
NumberRead readByStrtod(std::string_view text, float& value) { return read(text, value); }
NumberRead readByStrtod(std::string_view text, double& value) { return read(text, value); }

}  // namespace derm::detail
