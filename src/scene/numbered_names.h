#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace derm::detail {

/// The number in a name that a bake gave: 12 of "derm 12" for "derm ". 0 where it is another name.
inline std::uint32_t numberBehind(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return 0;
  std::uint32_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [at, failure] = std::from_chars(name.data() + prefix.size(), end, number);
  return failure == std::errc() && at == end ? number : 0;
}

}  // namespace derm::detail
