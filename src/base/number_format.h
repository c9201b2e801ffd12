#pragma once

#include <string>
#include <string_view>

#include "derm/base/number_text.h"

/// Floating point for standard libraries whose <charconv> has none (libc++ 14), by printf and
/// strtod. Compiled everywhere, so that tests can hold it to <charconv>; these follow the locale,
/// and are used only where there is none.
namespace derm::detail {

std::string shortByPrintf(double value, int digits);
std::string fixedByPrintf(double value, int decimals);
/// Powers of two may get a digit more than they need.
std::string exactByPrintf(float value);
std::string exactByPrintf(double value);
NumberRead readByStrtod(std::string_view text, float& value);
NumberRead readByStrtod(std::string_view text, double& value);

}  // namespace derm::detail
