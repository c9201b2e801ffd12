#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace derm {

/// RFC 4648 base64, standard alphabet; padding may be missing. Nothing if a character is foreign or
/// the length impossible.
std::optional<std::vector<std::uint8_t>> decodeBase64(std::string_view text);

/// With padding.
std::string encodeBase64(std::span<const std::uint8_t> bytes);

}  // namespace derm
