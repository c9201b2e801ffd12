#pragma once

#include <string>
#include <string_view>

namespace derm {

/// Text that is safe between tags and in attributes of XML, SVG and HTML. Control characters, which
/// XML forbids even when escaped, become blanks (but for line ends and tabs); bytes that are no
/// UTF-8 become question marks.
std::string markupText(std::string_view text);

}  // namespace derm
