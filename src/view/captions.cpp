#include "view/captions.h"

#include "derm/base/number_text.h"

namespace derm::detail {

std::string timeCaption(double time_s) { return fixedNumber(time_s, 2) + " s"; }

std::string moveCaption(double largest_mm) {
  const int decimals = largest_mm >= 100 ? 0 : largest_mm >= 10 ? 1 : 2;
  return "moved by up to " + fixedNumber(largest_mm, decimals) + " mm";
}

}  // namespace derm::detail
