#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"

namespace derm::detail::gltf {

/// The two chunks of a binary glTF that we use; views into the file's bytes.
struct GlbChunks {
  std::span<const std::uint8_t> json;
  std::optional<std::span<const std::uint8_t>> bin;
  std::uint64_t json_offset = 0;  ///< [bytes] of the JSON text in the file, for error positions
};

bool isGlb(std::span<const std::uint8_t> bytes);

/// Lengths are checked against the bytes there are. Unknown chunks and trailing bytes are noted.
Result<GlbChunks> splitGlb(std::span<const std::uint8_t> bytes, std::string_view name,
                           Diagnostics& notes);

/// A binary glTF in three parts, in this order, so that a file of gigabytes need not be held twice:
/// `head`, the binary buffer (where it is not empty), `tail`.
struct GlbFrame {
  std::vector<std::uint8_t> head, tail;
};

/// Without a second chunk where the buffer is empty. Both must be below 4 GB together.
Result<GlbFrame> frameGlb(std::string_view json, std::uint64_t bin_size, std::string_view name);

}  // namespace derm::detail::gltf
