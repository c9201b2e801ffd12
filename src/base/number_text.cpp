#include "derm/base/number_text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/number_format.h"

namespace derm {
namespace {

// libc++ 14, which emscripten 3.1.6 has, converts whole numbers only.
#if defined(__cpp_lib_to_chars)

template <class T, class... Format>
std::string written(T value, Format... format) {
  std::array<char, 512> text;  // the largest double has 309 digits before the point
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format...).ptr;
  return std::string(text.data(), end);
}
std::string significant(double value, int digits) {
  return written(value, std::chars_format::general, digits);
}
std::string withDecimals(double value, int decimals) {
  return written(value, std::chars_format::fixed, decimals);
}
template <class T>
std::string exact(T value) {
  return written(value);
}
template <class T>
NumberRead read(std::string_view text, T& value) {
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc::invalid_argument) return {};
  return {static_cast<std::size_t>(stop - text.data()), failure != std::errc{}};
}

#else

std::string significant(double value, int digits) { return detail::shortByPrintf(value, digits); }
std::string withDecimals(double value, int decimals) {
  return detail::fixedByPrintf(value, decimals);
}
template <class T>
std::string exact(T value) {
  return detail::exactByPrintf(value);
}
template <class T>
NumberRead read(std::string_view text, T& value) {
  return detail::readByStrtod(text, value);
}

#endif

}  // namespace

std::string shortNumber(double value, int digits) {
  return std::isfinite(value) ? significant(value, digits) : "-";
}

std::string fixedNumber(double value, int decimals) {
  if (!std::isfinite(value)) return "-";
  std::string out = withDecimals(value, decimals);
  // "-0.00" says nothing that "0.00" does not.
  if (out.front() == '-' && out.find_first_not_of("-0.") == std::string::npos) out.erase(0, 1);
  return out;
}

std::string millimetres(double metres) { return shortNumber(1000 * metres, 3) + " mm"; }

std::string exactNumber(float value) { return exact(value); }
std::string exactNumber(double value) { return exact(value); }

NumberRead readNumber(std::string_view text, float& value) { return read(text, value); }
NumberRead readNumber(std::string_view text, double& value) { return read(text, value); }

}  // namespace derm
