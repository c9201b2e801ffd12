#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "derm/face/face_features.h"

namespace derm::detail {

inline constexpr std::size_t kControlPointCount = 28;

/// Where in controlPointNumbers() a number is; kControlPointCount for any other.
inline std::uint32_t controlPointIndex(std::string_view number) {
  const std::span<const std::string_view> all = controlPointNumbers();
  return static_cast<std::uint32_t>(std::find(all.begin(), all.end(), number) - all.begin());
}

}  // namespace derm::detail
