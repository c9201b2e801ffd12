#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "derm/base/result.h"

namespace derm {

/// The whole file, or an error that names it. Directories, missing and unreadable files, and files
/// over `max_bytes` bytes are errors before anything is allocated for them.
Result<std::vector<std::uint8_t>> readFile(const std::filesystem::path& file,
                                           std::uint64_t max_bytes = std::uint64_t{1} << 34);

/// Up to `count` bytes from the start of the file; none where it cannot be read. What tells formats
/// apart without reading all of it.
std::vector<std::uint8_t> firstBytes(const std::filesystem::path& file, std::size_t count);

/// Writes a file whole or not at all: into a temporary beside it, flushed to disk, then renamed. A
/// failure (full disk, no permission) leaves what was there before and removes the temporary.
Result<void> writeFileWhole(const std::filesystem::path& file, std::span<const std::uint8_t> bytes);
Result<void> writeFileWhole(const std::filesystem::path& file, std::string_view text);

}  // namespace derm
