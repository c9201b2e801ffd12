#include "derm/base/result.h"

namespace derm {

std::string Error::text() const {
  std::string out = where.file;
  if (where.line) out += ":" + std::to_string(*where.line);
  if (where.line && where.column) out += ":" + std::to_string(*where.column);
  if (where.byte) out += (out.empty() ? "byte " : " at byte ") + std::to_string(*where.byte);
  if (!out.empty()) out += ": ";
  if (!where.element.empty() || where.index) {
    out += where.element;
    if (where.index) out += "[" + std::to_string(*where.index) + "]";
    out += ": ";
  }
  // One error is one line, whatever a hostile name holds.
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    out += (byte < 0x20 || byte == 0x7F) ? ' ' : c;
  }
  return out;
}

}  // namespace derm
