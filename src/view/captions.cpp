#include "view/captions.h"

#include <array>
#include <charconv>

namespace derm::detail {
namespace {

std::string fixedText(double value, int decimals) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::fixed, decimals);
  return end.ec == std::errc{} ? std::string(digits.data(), end.ptr) : "?";
}

}  // namespace

std::string timeCaption(double time_s) { return fixedText(time_s, 2) + " s"; }

std::string moveCaption(double largest_mm) {
  const int decimals = largest_mm >= 100 ? 0 : largest_mm >= 10 ? 1 : 2;
  return "moved by up to " + fixedText(largest_mm, decimals) + " mm";
}

}  // namespace derm::detail
