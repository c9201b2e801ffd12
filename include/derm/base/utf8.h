#pragma once

#include <string_view>

namespace derm {

/// Whether all bytes are UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above
/// U+10FFFF. JSON and TOML hold nothing else.
bool isUtf8(std::string_view text);

}  // namespace derm
