#pragma once

#include <string>

namespace derm {

/// A number for people: up to so many digits that count, no trailing zeros, whatever the locale.
std::string shortNumber(double value, int digits = 4);
/// With exactly so many digits after the point.
std::string fixedNumber(double value, int decimals);
/// "0.45 mm", with three digits that count.
std::string millimetres(double metres);

}  // namespace derm
