#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "derm/base/result.h"
#include "derm/mesh/level_set_blocks.h"

namespace derm::detail {

/// What `derm-read-vdb` hands back, as bytes: a level set (without blocks that are inside, of which
/// files say nothing) or an error. Both ends are of one build, so numbers are as memory has them.
///
/// The head of an answer, or all of an error; after a level set's head come its blocks and values.
std::vector<std::uint8_t> encodeVdbAnswer(const Result<LevelSetBlocks>& blocks);
std::uint64_t vdbAnswerBytes(const LevelSetBlocks& blocks);

/// The way back. The bytes are not believed: OpenVDB may have gone wrong in any way before they
/// were written. An error, with `name` in it, where they are no answer.
Result<LevelSetBlocks> decodeVdbAnswer(std::span<const std::uint8_t> bytes, std::string_view name);

}  // namespace derm::detail
