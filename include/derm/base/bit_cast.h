#pragma once

#include <cstring>
#include <type_traits>

namespace derm {

/// The same bytes as another type: std::bit_cast, which libc++ 14 does not have.
template <class To, class From>
To bitCast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  static_assert(std::is_trivially_copyable_v<To> && std::is_trivially_copyable_v<From>);
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

}  // namespace derm
