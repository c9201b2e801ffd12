#include "derm/base/utf8.h"

#include <cstddef>

namespace derm {

bool isUtf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char lead = byte(i);
    const std::size_t more = lead < 0x80                   ? 0
                             : lead >= 0xC2 && lead < 0xE0 ? 1
                             : lead >= 0xE0 && lead < 0xF0 ? 2
                             : lead >= 0xF0 && lead < 0xF5 ? 3
                                                           : 4;
    if (more == 4 || text.size() - i <= more) return false;
    for (std::size_t k = 1; k <= more; ++k)
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    // Overlong forms, surrogates and what lies above U+10FFFF show in the second byte.
    if (lead == 0xE0 && byte(i + 1) < 0xA0) return false;
    if (lead == 0xED && byte(i + 1) >= 0xA0) return false;
    if (lead == 0xF0 && byte(i + 1) < 0x90) return false;
    if (lead == 0xF4 && byte(i + 1) >= 0x90) return false;
    i += more + 1;
  }
  return true;
}

}  // namespace derm
