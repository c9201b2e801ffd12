#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "derm/base/result.h"

// What all tracks that are sampled at common instants must fulfil.
namespace derm::detail {

inline Error badTracks(std::string message, std::string_view file, std::string element,
                       std::optional<std::uint64_t> index = {}) {
  return {ErrorCode::BadData,
          std::move(message),
          {.file = std::string(file), .element = std::move(element), .index = index}};
}

inline Result<void> checkNamesDiffer(std::span<const std::string> names, std::string_view file,
                                     std::string_view element) {
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!seen.insert(names[i]).second)
      return badTracks("\"" + names[i] + "\" is there twice", file, std::string(element), i);
  return {};
}

inline Result<void> checkTimes(std::span<const double> times_s, std::string_view file) {
  if (times_s.empty()) return badTracks("no frames", file, "times");
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    if (!std::isfinite(times_s[i])) return badTracks("not a finite number", file, "times", i);
    if (i > 0 && !(times_s[i] > times_s[i - 1]))
      return badTracks("not later than the frame before", file, "times", i);
  }
  return {};
}

inline Result<void> checkCount(std::size_t count, std::size_t wanted, std::string_view file,
                               std::string_view element) {
  if (count != wanted)
    return badTracks(std::to_string(count) + " of " + std::to_string(wanted), file,
                     std::string(element));
  return {};
}

}  // namespace derm::detail
