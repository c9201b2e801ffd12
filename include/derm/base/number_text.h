#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Numbers as text and back, whatever the locale, and the same with every standard library.
namespace derm {

/// A number for people: up to so many digits that count, no trailing zeros, whatever the locale.
std::string shortNumber(double value, int digits = 4);
/// With exactly so many digits after the point.
std::string fixedNumber(double value, int decimals);
/// "0.45 mm", with three digits that count.
std::string millimetres(double metres);

/// A number for programs: the fewest digits that read back as the same number, with or without an
/// exponent, whichever is shorter ("0.1", "1e-07"); "inf", "-inf", "nan".
std::string exactNumber(float value);
std::string exactNumber(double value);

/// What readNumber() found.
struct NumberRead {
  std::size_t length = 0;     ///< bytes of the text that are the number; 0: it starts with none
  bool out_of_range = false;  ///< too large or too small for the type; the value is not set
};
/// Reads the number that the text starts with: digits with an optional point, '-' in front and
/// exponent behind, or "inf", "infinity", "nan" in any case. No blanks, no '+' and no hexadecimal.
NumberRead readNumber(std::string_view text, float& value);
NumberRead readNumber(std::string_view text, double& value);

}  // namespace derm
