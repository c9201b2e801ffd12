#include "derm/base/number_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace derm {

std::string shortNumber(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::general, digits)
                       .ptr;
  return std::string(text.data(), end);
}

std::string fixedNumber(double value, int decimals) {
  if (!std::isfinite(value)) return "-";
  std::array<char, 512> text;  // the largest double has 309 digits before the point
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, decimals)
                       .ptr;
  std::string out(text.data(), end);
  // "-0.00" says nothing that "0.00" does not.
  if (out.front() == '-' && out.find_first_not_of("-0.") == std::string::npos) out.erase(0, 1);
  return out;
}

std::string millimetres(double metres) { return shortNumber(1000 * metres, 3) + " mm"; }

}  // namespace derm
