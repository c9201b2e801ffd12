#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"

#include "io/json_value.h"

namespace derm::detail {

struct JsonLimits {
  unsigned depth = 256;               ///< deepest nesting of arrays and objects
  std::uint64_t memory = 1ull << 40;  ///< [bytes] the parsed document may take
};

struct ParsedJson {
  Json root;
  /// [bytes] it takes, as glibc's allocator counts (to a few per cent, never far below).
  std::uint64_t memory = 0;
};

/// Parses hostile bytes: nesting and memory are checked before the first allocation, text must be
/// UTF-8, numbers must be finite. Of equal keys in one object the last counts, with a note.
/// `byte_offset` is added to positions in errors (JSON inside a larger file).
Result<ParsedJson> parseJson(std::span<const std::uint8_t> text, std::string_view name,
                             const JsonLimits& limits, std::uint64_t byte_offset,
                             Diagnostics& notes);

/// Empties a document without the library's way of freeing one, which first moves all values into
/// a list and so needs up to three times their memory. Recurses as deep as the document.
void dismantle(Json& document);

}  // namespace derm::detail
