#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/io/import_options.h"

namespace derm::detail {

/// The reading itself, in the process of `derm-import`: see parseWithAssimp() for what it gives. It
/// may crash, hang or take all memory it can get. Pictures that the file names are not fetched.
Result<Character> readWithAssimp(std::span<const std::uint8_t> bytes, std::string_view name,
                                 const ImportOptions& options, Diagnostics& notes);

}  // namespace derm::detail
