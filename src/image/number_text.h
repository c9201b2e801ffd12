#pragma once

#include <string>

namespace derm::detail {

/// A number for a label: up to four digits that count, no trailing zeros, whatever the locale.
std::string shortNumber(double value);
/// With exactly so many digits after the point.
std::string fixedNumber(double value, int decimals);

}  // namespace derm::detail
